// SPDX-License-Identifier: Apache-2.0
// Loss patterns on a device: all of small codes, with table kernels and compiled kernels; random
// ones of large codes.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "devices/device_setup.hpp"
#include "support/pattern_check.hpp"
#include "support/random_cases.hpp"
#include "support/random_choice.hpp"

namespace calpe::tests {
namespace {

using conformance::Random;

CodeSpec spec_of(const char* profile, unsigned k, unsigned m) {
  CodeSpec spec = *find_profile(profile);
  spec.data_shards = static_cast<std::uint16_t>(k);
  spec.parity_shards = static_cast<std::uint16_t>(m);
  return spec;
}

class DevicePatterns : public DeviceTest {};

TEST_F(DevicePatterns, all_up_to_ten_shards_with_table_kernels) {
  const KernelScope scope(Kernels::table);
  const auto before =
      device_profile(*Codec::create(spec_of("cauchy", 2, 1), {.backend = tested_backend()}));
  std::uint64_t patterns = 0;
  for (unsigned shards = 2; shards <= 10; ++shards) {
    for (unsigned m = 1; m < shards; ++m) {
      patterns += check_all(spec_of("cauchy", shards - m, m), {tested_backend()});
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(patterns, 9162U);
  const auto codec = Codec::create(spec_of("cauchy", 2, 1), {.backend = tested_backend()});
  EXPECT_TRUE(is_on_device(*codec));
  std::printf("%llu patterns, %llu programs compiled for them\n",
              static_cast<unsigned long long>(patterns),
              static_cast<unsigned long long>(device_profile(*codec).builds - before.builds));
}

// Driver compilers take half a second each: all patterns on one setup, the smallest code elsewhere.
bool takes_all() {
  return std::getenv("CALPE_TEST_ALL_PATTERNS") != nullptr ||
         std::getenv("CALPE_NIGHTLY") != nullptr;
}

TEST_F(DevicePatterns, all_of_small_codes_with_compiled_kernels) {
  const KernelScope scope(Kernels::compiled);
  if (!takes_all()) {
    EXPECT_EQ(check_all(spec_of("cauchy", 3, 2), {tested_backend()}), 15U);
    return;
  }
  std::uint64_t patterns = 0;
  for (const auto& [k, m] : {std::pair{3U, 2U}, {4U, 2U}, {4U, 3U}}) {
    for (const char* profile : {"cauchy", "hybrid-good"}) {
      CodeSpec spec = spec_of(profile, k, m);
      if (spec.layout == Layout::packets) {
        spec.word_bits = 4;
        spec.packet_bytes = 64;
        if (k != 3) continue;  // one code in packets, as compilers are slow
      }
      patterns += check_all(spec, {tested_backend()});
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(patterns, 15U + 15U + 21U + 63U);
}

struct Loss {
  std::vector<ShardIndex> available;
  std::vector<ShardIndex> wanted;
};

Loss random_loss(Random& random, unsigned shards, unsigned losses) {
  std::vector<ShardIndex> order(shards);
  std::iota(order.begin(), order.end(), ShardIndex{0});
  for (unsigned i = 0; i < losses; ++i)
    std::swap(order[i], order[random.between(i, shards - 1)]);
  std::sort(order.begin(), order.begin() + losses);
  std::sort(order.begin() + losses, order.end());
  return {.available = {order.begin() + losses, order.end()},
          .wanted = {order.begin(), order.begin() + losses}};
}

// A code on the device, and a stripe encoded by the reference.
class Sample {
 public:
  Sample(const CodeSpec& spec, std::size_t bytes)
      : codec_(must(Codec::create(spec, {.backend = tested_backend()}))) {
    const Codec reference = must(Codec::create(spec, {.backend = "reference"}));
    const std::size_t k = spec.data_shards;
    shards_.resize(k + spec.parity_shards);
    std::uint8_t next = 1;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      shards_[i].resize(i < k ? bytes : codec_.parity_bytes(bytes));
      for (std::byte& b : shards_[i])
        b = std::byte(next = static_cast<std::uint8_t>(next * 5 + 17 + i));
    }
    const std::vector<ConstShard> data(shards_.begin(), shards_.begin() + static_cast<long>(k));
    const std::vector<Shard> parity(shards_.begin() + static_cast<long>(k), shards_.end());
    EXPECT_TRUE(reference.encode(data, parity));
  }

  void check(const Loss& loss) const {
    const auto plan = codec_.plan_decode(loss.available, loss.wanted);
    ASSERT_TRUE(plan) << plan.error().message;
    std::vector<ConstShard> inputs;
    for (const ShardIndex i : plan->reads())
      inputs.push_back(shards_[i]);
    std::vector<std::vector<std::byte>> rebuilt;
    for (const ShardIndex i : loss.wanted)
      rebuilt.emplace_back(shards_[i].size());
    const std::vector<Shard> outputs(rebuilt.begin(), rebuilt.end());
    const Status done = codec_.decode(*plan, inputs, outputs);
    ASSERT_TRUE(done) << done.error().message;
    for (std::size_t i = 0; i < rebuilt.size(); ++i) {
      ASSERT_TRUE(rebuilt[i] == shards_[loss.wanted[i]]) << "shard " << loss.wanted[i];
    }
    EXPECT_TRUE(is_on_device(codec_));
  }

 private:
  Codec codec_;
  std::vector<std::vector<std::byte>> shards_;
};

CodeSpec random_spec(Random& random, unsigned code) {
  // Mostly common codes, some wide ones; the first is the widest.
  const bool is_wide = code % 8 == 0;
  const unsigned k = code == 0 ? 223
                     : is_wide ? random.between(24U, 223U)
                               : random.between(2U, 12U);
  const unsigned m = code == 0 ? 32 : is_wide ? random.between(2U, 32U) : random.between(1U, 4U);
  CodeSpec spec = spec_of("cauchy", k, m);
  if (code % 3 == 2 && k + m <= 16) {
    spec.layout = Layout::packets;
    spec.word_bits = 4;
    spec.packet_bytes = 64;
  }
  return spec;
}

// Several losses of each code, whose encoder is also compiled; one of a wide code.
TEST_F(DevicePatterns, seeded_samples_of_codes_up_to_223_and_32) {
  const KernelScope scope(Kernels::compiled);
  Random random = Random::of_test("device samples");
  std::printf("%s\n", conformance::repeat_with().c_str());
  unsigned samples = 0;
  for (unsigned code = 0; samples < sample_count(); ++code) {
    const CodeSpec spec = random_spec(random, code);
    const unsigned k = spec.data_shards;
    const unsigned m = spec.parity_shards;
    const std::size_t bytes = random.between(1U, 3000U);
    const bool is_wide = k > 16;
    const Sample sample(spec, bytes);
    for (unsigned i = 0; i < (is_wide ? 1 : 6) && samples < sample_count(); ++i, ++samples) {
      const unsigned losses = is_wide ? 1 : random.between(1U, m);
      SCOPED_TRACE(testing::Message() << k << "+" << m << ", " << losses << " lost, " << bytes
                                      << " bytes, layout " << static_cast<int>(spec.layout));
      sample.check(random_loss(random, k + m, losses));
      if (HasFatalFailure()) return;
    }
  }
  std::printf("%u samples\n", samples);
}

}  // namespace
}  // namespace calpe::tests
