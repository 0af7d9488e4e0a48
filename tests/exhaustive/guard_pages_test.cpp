// SPDX-License-Identifier: Apache-2.0
// Puts every shard alone between two inaccessible pages, with read-only sources while the codec
// runs: lengths 0..1100 x 8 gaps to the guard x 2 guards x 12 shapes x every CPU path, and fewer
// lengths for transforms, packets, codes over GF(2^16) and tags. All shards of a stripe have the
// same alignment, so that streaming stores are possible.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <calpe/codec.hpp>

#include "support/codec_case.hpp"
#include "support/guarded_shard.hpp"
#include "support/random_choice.hpp"
#include "support/slow_tag.hpp"

namespace calpe {
namespace {

using namespace tests;

struct Shape {
  std::size_t data = 0;
  std::size_t parity = 0;
};

// 5+17 and 40+3 have more rows and inputs than a kernel takes at once.
constexpr std::array<Shape, 12> byte_shapes = {{{1, 1},
                                                {2, 1},
                                                {3, 2},
                                                {4, 2},
                                                {5, 3},
                                                {6, 3},
                                                {8, 3},
                                                {8, 4},
                                                {10, 4},
                                                {16, 4},
                                                {5, 17},
                                                {40, 3}}};
// Transforms: narrow with all kinds of tails, wide by inputs, wide by N with and without tails.
constexpr std::array<Shape, 8> transform_shapes = {
    {{9, 5}, {24, 8}, {21, 12}, {48, 16}, {70, 10}, {40, 20}, {90, 40}, {100, 70}}};
constexpr std::array<Shape, 5> packet_shapes = {{{1, 1}, {3, 2}, {5, 3}, {8, 4}, {4, 9}}};
// Over GF(2^16): matrices, short and long transforms, and losses found with a locator.
constexpr std::array<Shape, 7> wide_shapes = {
    {{1, 1}, {4, 2}, {9, 5}, {40, 20}, {30, 70}, {260, 3}, {250, 30}}};
// One kernel of matrices, one of transforms, and more shards than are tagged at once.
constexpr std::array<Shape, 4> tag_shapes = {{{1, 1}, {5, 3}, {24, 8}, {40, 3}}};
constexpr std::array<std::size_t, 8> gaps = {0, 1, 2, 3, 7, 16, 31, 40};
constexpr std::byte unwritten{0xA5};

// The running case, for the fault handler.
struct Now {
  const char* path = "";
  const char* operation = "";
  Shape shape = {};
  std::size_t bytes = 0;
  Placement placement = {};
};
Now now;

std::string describe() {
  std::array<char, 200> text{};
  std::snprintf(
      text.data(), text.size(), "%s of %zu bytes, %zu+%zu on %s, %zu bytes %s guard", now.operation,
      now.bytes, now.shape.data, now.shape.parity, now.path, now.placement.gap,
      now.placement.guard == Guard::leading ? "after the leading" : "before the trailing");
  return text.data();
}

[[noreturn]] void report_fault(int signal) {
  // Not async-signal-safe, but the process is lost anyway and the case must be known.
  std::fprintf(stderr, "signal %d: touched a forbidden byte in %s\n", signal, describe().c_str());
  _exit(1);
}

struct Setup {
  CodeSpec spec;
  std::size_t bytes_max = 0;
};

using Shards = std::vector<std::vector<std::byte>>;

// One shape: read-only sources, outputs, and expected outputs.
class Bench {
 public:
  Bench(const Setup& setup, const std::string& path)
      : spec_(setup.spec),
        codec_(must(Codec::create(setup.spec, {.backend = path}))),
        reference_(must(Codec::create(setup.spec, {.backend = "reference"}))) {
    const std::size_t k = spec_.data_shards;
    const std::size_t n = k + spec_.parity_shards;
    conformance::Random random(k * 1000 + n);
    for (std::size_t i = 0; i < n; ++i) {
      sources_.emplace_back(setup.bytes_max + 64);
      outputs_.emplace_back(setup.bytes_max + 64);
      content_.emplace_back(setup.bytes_max);
      random.fill(content_[i]);
    }
    expected_.resize(n);
    without_last_.resize(n);
    // Lose the first data shards and the last parity, and read what is left of both.
    for (std::size_t i = 0; i < n; ++i) {
      const bool is_lost = i < spec_.parity_shards / 2 || i + 1 == n;
      (is_lost ? lost_ : left_).push_back(static_cast<ShardIndex>(i));
    }
    decode_.push_back(must(codec_.plan_decode(left_, lost_)));
    // A quarter of the parity from the data: fewer rows than a code of this size has.
    std::vector<ShardIndex> first_parity;
    std::vector<ShardIndex> others;
    for (std::size_t i = 0; i < n; ++i) {
      const bool is_lost = i >= k && i <= k + spec_.parity_shards / 4;
      (is_lost ? first_parity : others).push_back(static_cast<ShardIndex>(i));
    }
    parity_.push_back(must(codec_.plan_decode(others, first_parity)));
    update_.push_back(must(codec_.plan_update(static_cast<ShardIndex>(k - 1))));
  }

  // Layout::bytes is prepared once, column by column: a shorter stripe is a part of the longest
  // one, its end at the trailing guard, its start at the leading one. Packets are prepared for each
  // length.
  void prepare(const Placement& placement, std::size_t bytes) {
    expect(bytes);
    place(placement);
  }

  // Computes what a stripe of this length contains.
  void expect(std::size_t bytes) {
    const std::size_t k = spec_.data_shards;
    const std::vector<std::byte> zeros(bytes);
    std::vector<ConstShard> data;
    for (std::size_t j = 0; j < k; ++j)
      data.push_back(ConstShard(content_[j]).first(bytes));
    const auto encode = [&](Shards& shards) {
      std::vector<Shard> parity;
      for (std::size_t i = 0; i < shards.size(); ++i) {
        if (i < k)
          shards[i].assign(data[i].begin(), data[i].end());
        else
          parity.emplace_back(shards[i] = std::vector<std::byte>(codec_.parity_bytes(bytes)));
      }
      must(reference_.encode(data, parity));
    };
    encode(expected_);
    data.back() = zeros;
    encode(without_last_);
  }

  // Copies the expected stripe to read-only memory.
  void place(const Placement& placement) {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      sources_[i].allow_writes(true);
      std::ranges::copy(expected_[i], sources_[i].place(placement, expected_[i].size()).begin());
      sources_[i].allow_writes(false);
    }
  }

  // `number` selects what runs in addition to encode. Returns an empty string on success.
  std::string run(const Placement& placement, std::size_t bytes, std::size_t number) {
    now.operation = "encode";
    RunOptions options{.stores = number % 2 == 0 ? Stores::cached : Stores::streaming};
    std::string wrong = run_plan(codec_.plan_encode(), placement, bytes, options);
    if (wrong.empty() && number % 3 == 1) {
      now.operation = "decode";
      wrong = run_plan(decode_.front(), placement, bytes, options);
    }
    if (wrong.empty() && number % 5 == 3) {
      now.operation = "decode of parity";
      wrong = run_plan(parity_.front(), placement, bytes, options);
    }
    if (wrong.empty() && number % 3 == 2) {
      // Updates the parity of a stripe whose last data shard was zero.
      now.operation = "update";
      options.accumulate = true;
      wrong = run_plan(update_.front(), placement, bytes, options);
    }
    return wrong;
  }

  // Tags all shards, alone and with encode. For the prepared length.
  std::string run_tags(const Placement& placement, std::size_t bytes, Stores stores) {
    now.operation = "tag";
    const std::size_t k = spec_.data_shards;
    inputs_.clear();
    std::vector<std::byte> expected;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      inputs_.push_back(sources_[i].place(placement, bytes));
      const Tag tag = slow_tag(*field_, 6, expected_[i]);
      expected.insert(expected.end(), tag.begin(), tag.end());
    }
    const Shard tags = tags_.place(placement, expected.size());
    const auto check = [&](const Status& done) -> std::string {
      if (!done) return done.error().message;
      if (!std::ranges::equal(tags, expected)) return "tags are wrong";
      return is_blank_beside(tags_.all(), tags) ? "" : "bytes next to tags were written";
    };
    std::ranges::fill(tags_.all(), unwritten);
    std::string wrong = check(codec_.tag(inputs_, tags));
    if (!wrong.empty()) return wrong;

    now.operation = "encode_tagged";
    std::ranges::fill(tags_.all(), unwritten);
    targets_.clear();
    for (std::size_t i = k; i < outputs_.size(); ++i) {
      std::ranges::fill(outputs_[i].all(), unwritten);
      targets_.push_back(outputs_[i].place(placement, bytes));
    }
    const std::span<const ConstShard> data = std::span(inputs_).first(k);
    wrong = check(codec_.encode_tagged(data, targets_, tags, {.stores = stores}));
    return wrong.empty() ? check_targets(codec_.plan_encode(), placement) : wrong;
  }

 private:
  std::size_t length_of(std::size_t shard, std::size_t bytes) const {
    return shard < spec_.data_shards ? bytes : codec_.parity_bytes(bytes);
  }

  std::string run_plan(const Plan& plan, const Placement& placement, std::size_t bytes,
                       const RunOptions& options) {
    inputs_.clear();
    targets_.clear();
    for (const ShardIndex i : plan.reads())
      inputs_.push_back(sources_[i].place(placement, length_of(i, bytes)));
    for (const ShardIndex i : plan.writes()) {
      const Shard target = outputs_[i].place(placement, length_of(i, bytes));
      std::memset(outputs_[i].all().data(), int(unwritten), outputs_[i].all().size());
      if (options.accumulate)
        std::ranges::copy(part(without_last_[i], placement, target), target.begin());
      targets_.push_back(target);
    }
    const Status done = codec_.run(plan, inputs_, targets_, options);
    return done ? check_targets(plan, placement) : done.error().message;
  }

  std::string check_targets(const Plan& plan, const Placement& placement) const {
    for (std::size_t r = 0; r < targets_.size(); ++r) {
      const ShardIndex shard = plan.writes()[r];
      if (!std::ranges::equal(targets_[r], part(expected_[shard], placement, targets_[r]))) {
        return "shard " + std::to_string(shard) + " is wrong";
      }
      if (!is_blank_beside(outputs_[shard].all(), targets_[r])) {
        return "bytes next to shard " + std::to_string(shard) + " were written";
      }
    }
    return {};
  }

  // Returns the prepared bytes that belong at `target`.
  static ConstShard part(const std::vector<std::byte>& prepared, const Placement& placement,
                         Shard target) {
    const ConstShard all = prepared;
    return placement.guard == Guard::leading ? all.first(target.size()) : all.last(target.size());
  }

  static bool is_blank_beside(Shard all, Shard shard) {
    static const std::vector<std::byte> blank(1 << 16, unwritten);
    if (shard.empty()) return std::memcmp(all.data(), blank.data(), all.size()) == 0;
    const auto before = static_cast<std::size_t>(shard.data() - all.data());
    const std::size_t behind = all.size() - before - shard.size();
    return std::memcmp(all.data(), blank.data(), before) == 0 &&
           std::memcmp(shard.data() + shard.size(), blank.data(), behind) == 0;
  }

  CodeSpec spec_;
  Codec codec_;
  Codec reference_;
  std::deque<GuardedShard> sources_;  // all k + m
  std::deque<GuardedShard> outputs_;
  GuardedShard tags_{4096};
  gf::FieldRef field_ = must(gf::Field::create(8, 0));
  Shards content_;
  Shards expected_;      // for the prepared length
  Shards without_last_;  // the same with a last data shard of zeros
  std::vector<ShardIndex> lost_;
  std::vector<ShardIndex> left_;
  std::vector<Plan> decode_;
  std::vector<Plan> parity_;
  std::vector<Plan> update_;
  std::vector<ConstShard> inputs_;
  std::vector<Shard> targets_;
};

class GuardPages : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    std::signal(SIGSEGV, report_fault);
    std::signal(SIGBUS, report_fault);
  }
};

// Tries every shape at every gap before and after the guard, at the lengths up to bytes_max that
// `next_length` selects: it gets the length after the last and returns the one to try.
template <class Shapes, class NextLength>
void try_lengths(CodeFamily family, const Shapes& shapes, std::size_t bytes_max,
                 const std::string& path, const NextLength& next_length) {
  now.path = path.c_str();
  std::size_t number = 0;
  for (const Shape& shape : shapes) {
    CodeSpec spec;
    spec.family = family;
    spec.data_shards = static_cast<std::uint16_t>(shape.data);
    spec.parity_shards = static_cast<std::uint16_t>(shape.parity);
    Bench bench({.spec = spec, .bytes_max = bytes_max}, path);
    now.shape = shape;
    for (const Guard guard : {Guard::leading, Guard::trailing}) {
      for (const std::size_t gap : gaps) {
        now.placement = {.guard = guard, .gap = gap};
        bench.prepare(now.placement, bytes_max);
        for (now.bytes = 0; now.bytes <= bytes_max; ++now.bytes) {
          now.bytes = next_length(now.bytes);
          const std::string wrong = bench.run(now.placement, now.bytes, number++);
          ASSERT_TRUE(wrong.empty()) << wrong << ": " << describe();
        }
      }
    }
  }
}

TEST_P(GuardPages, BytesLayout) {
  try_lengths(CodeFamily::cauchy, byte_shapes, 1100, GetParam(),
              [](std::size_t bytes) { return bytes; });
}

TEST_P(GuardPages, Transforms) {
  // Lengths around vectors and blocks; the others behave alike.
  try_lengths(CodeFamily::lch, transform_shapes, 1040, GetParam(), [](std::size_t bytes) {
    return bytes == 200 ? std::size_t{500} : bytes == 530 ? std::size_t{1010} : bytes;
  });
}

TEST_P(GuardPages, TransformsOfCauchyCodes) {
  // With data in the coset of the parity, and without.
  constexpr std::array<Shape, 2> shapes = {{{200, 56}, {128, 60}}};
  try_lengths(CodeFamily::hybrid, shapes, 520, GetParam(), [](std::size_t bytes) {
    return bytes == 70 ? std::size_t{250} : bytes == 260 ? std::size_t{510} : bytes;
  });
}

TEST_P(GuardPages, TransformsOfVandermondeCodes) {
  // Through one coset, and with a tail. Up to 384 bytes are multiplied by the matrix.
  constexpr std::array<Shape, 3> shapes = {{{16, 8}, {20, 9}, {24, 7}}};
  try_lengths(CodeFamily::vandermonde, shapes, 1030, GetParam(), [](std::size_t bytes) {
    return bytes == 0 ? std::size_t{380} : bytes == 460 ? std::size_t{1020} : bytes;
  });
}

TEST_P(GuardPages, PacketsLayout) {
  constexpr std::size_t bytes_max = 300;
  now.path = GetParam().c_str();
  std::size_t number = 0;
  for (const Shape& shape : packet_shapes) {
    CodeSpec spec;
    spec.family = CodeFamily::cauchy;
    spec.layout = Layout::packets;
    spec.word_bits = 4;
    spec.packet_bytes = 24;
    spec.data_shards = static_cast<std::uint16_t>(shape.data);
    spec.parity_shards = static_cast<std::uint16_t>(shape.parity);
    Bench bench({.spec = spec, .bytes_max = bytes_max}, GetParam());
    now.shape = shape;
    for (const Guard guard : {Guard::leading, Guard::trailing}) {
      for (now.bytes = 0; now.bytes <= bytes_max; ++now.bytes) {
        // There are fewer gaps than lengths: every length is tried at the guard and at one more
        // distance.
        for (const std::size_t gap : {std::size_t{0}, gaps[now.bytes % gaps.size()]}) {
          now.placement = {.guard = guard, .gap = gap};
          bench.prepare(now.placement, now.bytes);
          const std::string wrong = bench.run(now.placement, now.bytes, number++);
          ASSERT_TRUE(wrong.empty()) << wrong << ": " << describe();
        }
      }
    }
  }
}

// Every length of one block and its tail, whole blocks, and more than a kernel keeps in cache.
template <class Try>
void try_short_and_long(std::size_t bytes_max, const Try& try_length) {
  for (now.bytes = 0; now.bytes <= 257 && !testing::Test::HasFailure(); ++now.bytes)
    try_length();
  for (const std::size_t blocks : {4U, 8U, 32U}) {
    for (const std::size_t more : {0U, 1U, 126U, 127U}) {
      now.bytes = std::min(blocks * 128 + more, bytes_max);
      if (!testing::Test::HasFailure()) try_length();
    }
  }
}

TEST_P(GuardPages, WideLayout) {
  now.path = GetParam().c_str();
  for (const Shape& shape : wide_shapes) {
    CodeSpec spec;
    spec.family = CodeFamily::lch;
    spec.word_bits = 16;
    spec.data_shards = static_cast<std::uint16_t>(shape.data);
    spec.parity_shards = static_cast<std::uint16_t>(shape.parity);
    constexpr std::size_t bytes_max = 33 * 128;
    Bench bench({.spec = spec, .bytes_max = bytes_max}, GetParam());
    now.shape = shape;
    try_short_and_long(bytes_max, [&] {
      bench.expect(now.bytes);
      for (const Guard guard : {Guard::leading, Guard::trailing}) {
        // At the guard, everything with both kinds of stores; one run at one more distance.
        now.placement = {.guard = guard};
        bench.place(now.placement);
        for (std::size_t number = 0; number < 6; ++number)
          EXPECT_EQ(bench.run(now.placement, now.bytes, number), "") << describe();
        now.placement.gap = gaps[now.bytes % gaps.size()];
        bench.place(now.placement);
        EXPECT_EQ(bench.run(now.placement, now.bytes, now.bytes), "") << describe();
      }
    });
  }
}

TEST_P(GuardPages, Tags) {
  now.path = GetParam().c_str();
  for (const Shape& shape : tag_shapes) {
    CodeSpec spec;
    spec.data_shards = static_cast<std::uint16_t>(shape.data);
    spec.parity_shards = static_cast<std::uint16_t>(shape.parity);
    constexpr std::size_t bytes_max = 31'000;  // more than a segment
    Bench bench({.spec = spec, .bytes_max = bytes_max}, GetParam());
    now.shape = shape;
    const auto try_length = [&] {
      bench.expect(now.bytes);
      for (const Guard guard : {Guard::leading, Guard::trailing}) {
        for (const std::size_t gap : {std::size_t{0}, gaps[now.bytes % gaps.size()]}) {
          now.placement = {.guard = guard, .gap = gap};
          bench.place(now.placement);
          for (const Stores stores : {Stores::cached, Stores::streaming})
            EXPECT_EQ(bench.run_tags(now.placement, now.bytes, stores), "") << describe();
        }
      }
    };
    try_short_and_long(bytes_max, try_length);
    // Around the 15 digits that a state has, and the 480 of a segment.
    for (const std::size_t digits : {15U, 480U}) {
      for (now.bytes = digits * 64 - 1; now.bytes <= digits * 64 + 65; now.bytes += 33)
        try_length();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPath, GuardPages, testing::ValuesIn(available_cpu_paths()),
                         [](const auto& path) {
                           std::string name = path.param.substr(4);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace calpe
