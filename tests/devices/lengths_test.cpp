// SPDX-License-Identifier: Apache-2.0
// Any length at any address on a device, in both layouts: encode, decode, accumulate and update
// compute the bytes of the CPU and touch nothing else. CALPE_NIGHTLY=1 tests every length even
// where that is slow: with compiled kernels and in an interpreter.
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "devices/device_setup.hpp"
#include "support/arena.hpp"
#include "support/random_cases.hpp"
#include "support/random_choice.hpp"

namespace calpe::tests {
namespace {

using conformance::Random;

bool is_nightly() {
  return std::getenv("CALPE_NIGHTLY") != nullptr;
}
bool is_interpreter() {
  return tested_backend().starts_with("cuda");
}

struct Kind {
  const char* name;
  CodeSpec spec;
};

const std::array kinds = {
    Kind{"bytes", {.data_shards = 3, .parity_shards = 2}},
    Kind{"packets of 4",
         {.family = CodeFamily::cauchy,
          .layout = Layout::packets,
          .data_shards = 3,
          .parity_shards = 2,
          .word_bits = 4,
          .packet_bytes = 40}},
    Kind{"packets of 8",
         {.family = CodeFamily::cauchy,
          .layout = Layout::packets,
          .data_shards = 3,
          .parity_shards = 2,
          .word_bits = 8,
          .packet_bytes = 16}},
};

// Driver compilers are slow; two codes are enough to test lengths with compiled kernels.
std::span<const Kind> kinds_for(Kernels kernels) {
  const std::span<const Kind> all = kinds;
  return kernels == Kernels::table || is_nightly() ? all : all.first(2);
}

testing::AssertionResult is_done(const char* what, const Status& done) {
  if (done) return testing::AssertionSuccess();
  return testing::AssertionFailure() << what << ": " << done.error().message;
}

// One code on the device and on the CPU, with stripes of any length for both.
class LengthCheck {
 public:
  explicit LengthCheck(const CodeSpec& spec)
      : device(must(Codec::create(spec, {.backend = tested_backend()}))),
        cpu_(must(Codec::create(spec, {.backend = "cpu"}))),
        spec_(spec) {
    // Loses a data shard and a parity shard.
    std::vector<ShardIndex> available;
    for (ShardIndex i = 0; i < shards(); ++i) {
      if (i != 1 && i != spec.data_shards) available.push_back(i);
    }
    wanted_ = {1, static_cast<ShardIndex>(spec.data_shards)};
    device_plan_.push_back(*device.plan_decode(available, wanted_));
    cpu_plan_.push_back(*cpu_.plan_decode(available, wanted_));
  }

  // All operations of the codec, with shards of `bytes`.
  testing::AssertionResult check(std::size_t bytes) {
    const std::array<testing::AssertionResult (LengthCheck::*)(std::size_t), 4> works = {
        &LengthCheck::encode, &LengthCheck::accumulate, &LengthCheck::decode, &LengthCheck::update};
    for (const auto work : works) {
      if (auto result = (this->*work)(bytes); !result) return result << ", " << bytes << " bytes";
    }
    return testing::AssertionSuccess();
  }

  // Stripes of all these lengths in one call, and in two that are both in flight.
  testing::AssertionResult check_batch(const std::vector<std::size_t>& lengths) {
    arena_.reset();
    std::vector<Work> works;
    for (const std::size_t bytes : lengths)
      works.push_back(make(bytes, Fill::pattern));
    std::vector<Stripe> stripes;
    for (const Work& work : works)
      stripes.push_back({.inputs = work.data, .outputs = work.parity});
    for (Work& work : works) {
      EXPECT_TRUE(cpu_.encode(work.data, spans(work.expected)));
    }
    auto done = is_done("run_batch", device.run_batch(device.plan_encode(), stripes));
    if (!done) return done;
    if (auto same = all_equal(works, "run_batch"); !same) return same;
    for (Work& work : works) {
      for (const Shard& shard : work.parity)
        std::memset(shard.data(), 0x5A, shard.size());
    }
    const std::span<const Stripe> all = stripes;
    auto first = device.submit(device.plan_encode(), all.first(all.size() / 2));
    auto second = device.submit(device.plan_encode(), all.subspan(all.size() / 2));
    if (!first || !second) return testing::AssertionFailure() << "submit failed";
    if (auto waited = is_done("second", second->wait()); !waited) return waited;
    if (auto waited = is_done("first", first->wait()); !waited) return waited;
    return all_equal(works, "submit");
  }

  Codec device;

 private:
  enum class Fill { nothing, pattern };
  struct Work {
    std::vector<ConstShard> data;
    std::vector<Shard> parity;
    std::vector<std::vector<std::byte>> expected;
  };

  unsigned shards() const { return unsigned{spec_.data_shards} + spec_.parity_shards; }
  std::size_t bytes_of(ShardIndex shard, std::size_t bytes) const {
    return shard < spec_.data_shards ? bytes : device.parity_bytes(bytes);
  }
  static std::vector<Shard> spans(std::vector<std::vector<std::byte>>& buffers) {
    return {buffers.begin(), buffers.end()};
  }
  void fill(Shard shard) {
    for (std::byte& b : shard) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      b = std::byte(state_ >> 56U);
    }
  }
  Shard take(std::size_t bytes) {
    misalignment_ = (misalignment_ + 37) % 64;  // cycles through all
    return arena_.take(bytes, misalignment_);
  }

  // Fills the data and presets the parity with `before`, in both places.
  Work make(std::size_t bytes, Fill before) {
    Work work;
    for (ShardIndex i = 0; i < spec_.data_shards; ++i) {
      const Shard shard = take(bytes);
      fill(shard);
      work.data.emplace_back(shard);
    }
    for (auto i = static_cast<ShardIndex>(spec_.data_shards); i < shards(); ++i) {
      work.parity.push_back(take(bytes_of(i, bytes)));
      if (before == Fill::pattern) fill(work.parity.back());
      work.expected.emplace_back(work.parity.back().begin(), work.parity.back().end());
    }
    return work;
  }

  testing::AssertionResult equal(const Work& work, const char* what) const {
    for (std::size_t i = 0; i < work.parity.size(); ++i) {
      if (!equal_bytes(work.parity[i], work.expected[i])) {
        return testing::AssertionFailure() << what << ": parity shard " << i << " differs";
      }
    }
    if (!arena_.intact()) return testing::AssertionFailure() << what << ": wrote outside a shard";
    return testing::AssertionSuccess();
  }
  testing::AssertionResult all_equal(const std::vector<Work>& works, const char* what) const {
    for (std::size_t i = 0; i < works.size(); ++i) {
      if (auto same = equal(works[i], what); !same) return same << ", stripe " << i;
    }
    return testing::AssertionSuccess();
  }

  testing::AssertionResult encode(std::size_t bytes) {
    arena_.reset();
    work_ = make(bytes, Fill::pattern);
    EXPECT_TRUE(cpu_.encode(work_.data, spans(work_.expected)));
    auto done = is_done("encode", device.encode(work_.data, work_.parity));
    return done ? equal(work_, "encode") : done;
  }

  testing::AssertionResult accumulate(std::size_t bytes) {
    arena_.reset();
    work_ = make(bytes, Fill::pattern);
    const RunOptions adds = {.accumulate = true};
    EXPECT_TRUE(cpu_.encode(work_.data, spans(work_.expected), adds));
    auto done = is_done("accumulate", device.encode(work_.data, work_.parity, adds));
    return done ? equal(work_, "accumulate") : done;
  }

  // Uses the stripe that accumulate() left, which is not a valid codeword; both sides must still
  // agree.
  testing::AssertionResult decode(std::size_t bytes) {
    std::vector<ConstShard> inputs;
    for (const ShardIndex i : device_plan_[0].reads()) {
      const std::size_t k = spec_.data_shards;
      inputs.push_back(i < k ? work_.data[i] : ConstShard(work_.parity[i - k]));
    }
    Work rebuilt;
    for (const ShardIndex i : wanted_) {
      rebuilt.parity.push_back(take(bytes_of(i, bytes)));
      rebuilt.expected.emplace_back(rebuilt.parity.back().size());
    }
    EXPECT_TRUE(cpu_.decode(cpu_plan_[0], inputs, spans(rebuilt.expected)));
    auto done = is_done("decode", device.decode(device_plan_[0], inputs, rebuilt.parity));
    return done ? equal(rebuilt, "decode") : done;
  }

  // From a delta and from old and new bytes, alternating between a whole shard, its start and its
  // middle.
  testing::AssertionResult update(std::size_t bytes) {
    const std::array<ByteRange, 3> ranges = {
        ByteRange{0, bytes}, {0, bytes / 3}, {bytes / 5, bytes - bytes / 5 - bytes / 7}};
    const ByteRange range = ranges[updates_++ % ranges.size()];
    const Codec::Change change = {
        .data_index = 2, .offset = range.offset, .shard_bytes = bytes, .parity_indices = {}};
    arena_.reset();
    work_ = make(bytes, Fill::pattern);
    const Shard before = take(range.bytes);
    const Shard after = take(range.bytes);
    fill(before), fill(after);
    EXPECT_TRUE(cpu_.update(change, before, spans(work_.expected)));
    auto done = is_done("update", device.update(change, before, work_.parity));
    if (!done) return done;
    if (auto same = equal(work_, "update"); !same) return same;
    EXPECT_TRUE(cpu_.update(change, before, after, spans(work_.expected)));
    done = is_done("old and new", device.update(change, before, after, work_.parity));
    return done ? equal(work_, "old and new") : done;
  }

  Codec cpu_;
  CodeSpec spec_;
  std::vector<ShardIndex> wanted_;
  std::vector<Plan> device_plan_;  // one element; Plan has no default constructor
  std::vector<Plan> cpu_plan_;
  Arena arena_{std::size_t{64} << 20};
  Work work_;
  std::size_t misalignment_ = 0;
  std::size_t updates_ = 0;
  std::uint64_t state_ = 1;
};

class DeviceLengths : public DeviceTest {};

// A sample that covers all residues of words and vectors.
std::size_t step_of(Kernels kernels) {
  if (is_nightly()) return 1;
  if (is_interpreter()) return 37;
  return kernels == Kernels::table ? 1 : 7;
}

void check_all_short(Kernels kernels) {
  const KernelScope scope(kernels);
  for (const Kind& kind : kinds_for(kernels)) {
    SCOPED_TRACE(kind.name);
    LengthCheck check(kind.spec);
    for (std::size_t bytes = 0; bytes <= 1100; bytes += step_of(kernels))
      ASSERT_TRUE(check.check(bytes));
    EXPECT_TRUE(is_on_device(check.device));
  }
}

TEST_F(DeviceLengths, up_to_1100_with_table_kernels) {
  check_all_short(Kernels::table);
}

TEST_F(DeviceLengths, up_to_1100_with_compiled_kernels) {
  check_all_short(Kernels::compiled);
}

TEST_F(DeviceLengths, large_and_odd) {
  const KernelScope scope(Kernels::compiled);
  // Five shards of the last length exceed the 16 MiB of a copy, and one exceeds a single launch of
  // PoCL.
  std::vector<std::size_t> lengths = {(1U << 20) + 13, (4U << 20) + 193};
  if (is_interpreter() && !is_nightly()) lengths = {(64U << 10) + 13};
  for (const Kind& kind : kinds_for(Kernels::compiled)) {
    SCOPED_TRACE(kind.name);
    LengthCheck check(kind.spec);
    for (const std::size_t bytes : lengths)
      ASSERT_TRUE(check.check(bytes));
    EXPECT_TRUE(is_on_device(check.device));
  }
}

TEST_F(DeviceLengths, mixed_in_a_batch) {
  Random random = Random::of_test("device batches");
  std::printf("%s\n", conformance::repeat_with().c_str());
  for (const Kernels kernels : {Kernels::table, Kernels::compiled}) {
    const KernelScope scope(kernels);
    for (const Kind& kind : kinds_for(kernels)) {
      SCOPED_TRACE(kind.name);
      LengthCheck check(kind.spec);
      std::vector<std::size_t> lengths = {0, 1, 17, 64, 65, 17, 4096, 4096, 4099, 0};
      const int more = is_interpreter() ? 10 : 60;
      for (int i = 0; i < more; ++i)
        lengths.push_back(random.one_in(3) ? 512 : random.between(0U, 9000U));
      ASSERT_TRUE(check.check_batch(lengths));
      EXPECT_TRUE(is_on_device(check.device));
    }
  }
}

}  // namespace
}  // namespace calpe::tests
