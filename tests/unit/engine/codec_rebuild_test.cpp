// SPDX-License-Identifier: Apache-2.0
// Codec::rebuild: every loss pattern of small codes, shards without a buffer, refusals, batches and
// threads.
#include <algorithm>
#include <atomic>
#include <bit>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include <calpe/codec.hpp>

#include "support/random_choice.hpp"

namespace calpe {
namespace {

using Bytes = std::vector<std::byte>;
using Indices = std::vector<ShardIndex>;
using ::testing::HasSubstr;

constexpr std::byte unwritten{0xA5};

template <class Outcome>
std::string refusal(const Outcome& outcome) {
  return outcome ? "accepted" : outcome.error().message;
}

CodeSpec spec_of(const char* profile, unsigned data, unsigned parity) {
  CodeSpec spec = *find_profile(profile);
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  return spec;
}

CodeSpec lrc_of(unsigned data, unsigned parity, unsigned groups) {
  CodeSpec spec = spec_of("lrc", data, parity);
  spec.local_groups = static_cast<std::uint16_t>(groups);
  return spec;
}

CodeSpec packets_of(unsigned data, unsigned parity) {
  CodeSpec spec = spec_of("cauchy", data, parity);
  spec.layout = Layout::packets;
  spec.word_bits = 4;
  spec.packet_bytes = 8;
  return spec;
}

// An encoded stripe and a copy that loses shards.
struct LossyStripe {
  explicit LossyStripe(const Codec& codec, std::size_t bytes, std::uint64_t seed = 1) {
    const std::size_t k = codec.spec().data_shards;
    conformance::Random random(seed);
    for (std::size_t i = 0; i < k + codec.spec().parity_shards; ++i) {
      whole.emplace_back(i < k ? bytes : codec.parity_bytes(bytes));
      if (i < k) random.fill(whole.back());
    }
    const auto middle = whole.begin() + static_cast<std::ptrdiff_t>(k);
    EXPECT_TRUE(codec.encode(std::vector<ConstShard>(whole.begin(), middle),
                             std::vector<Shard>(middle, whole.end())));
    now = whole;
  }
  std::vector<Shard> shards() { return {now.begin(), now.end()}; }
  void lose(const Indices& lost) {
    for (const ShardIndex i : lost)
      std::ranges::fill(now[i], unwritten);
  }
  std::vector<Bytes> whole;
  std::vector<Bytes> now;
};

// Bit i of the mask: shard i.
Indices indices_of(unsigned mask) {
  Indices list;
  for (unsigned i = 0; i < 32; ++i) {
    if ((mask >> i & 1) != 0) list.push_back(static_cast<ShardIndex>(i));
  }
  return list;
}

Indices all_but(const Indices& lost, std::size_t count) {
  Indices left;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::ranges::find(lost, i) == lost.end()) left.push_back(static_cast<ShardIndex>(i));
  }
  return left;
}

class EveryLoss : public testing::TestWithParam<CodeSpec> {};

// rebuild() succeeds exactly where plan_decode() has a plan, and writes only missing shards.
TEST_P(EveryLoss, IsRebuiltOrRefused) {
  const Codec codec = *Codec::create(GetParam());
  const std::size_t k = GetParam().data_shards;
  const std::size_t count = k + GetParam().parity_shards;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{101}}) {
    LossyStripe stripe(codec, bytes);
    for (unsigned mask = 0; mask < 1U << count; ++mask) {
      const Indices lost = indices_of(mask);
      stripe.now = stripe.whole;
      stripe.lose(lost);
      const auto plan = codec.plan_decode(all_but(lost, count), lost);
      const Status done = codec.rebuild(stripe.shards(), lost);
      const bool must = static_cast<std::size_t>(std::popcount(mask)) <= codec.proof().losses;
      ASSERT_TRUE(done || !must) << mask;
      // Shards of 0 bytes have no buffers here, so there is nothing to rebuild.
      ASSERT_EQ(static_cast<bool>(done), bytes == 0 || plan) << mask;
      if (done) {
        ASSERT_EQ(stripe.now, stripe.whole) << mask;
      } else {
        ASSERT_EQ(done.error().code, ErrorCode::unrecoverable) << mask;
      }
    }
  }
}

// Missing parity shards have no buffer, or keep what they have.
TEST_P(EveryLoss, DataOnly) {
  const Codec codec = *Codec::create(GetParam());
  const std::size_t k = GetParam().data_shards;
  const std::size_t count = k + GetParam().parity_shards;
  LossyStripe stripe(codec, 64);
  for (unsigned mask = 0; mask < 1U << count; ++mask) {
    const Indices lost = indices_of(mask);
    if (lost.size() > codec.proof().losses) continue;
    for (const bool has_buffers : {false, true}) {
      stripe.now = stripe.whole;
      stripe.lose(lost);
      std::vector<Bytes> expected = stripe.whole;
      std::vector<Shard> shards = stripe.shards();
      for (const ShardIndex i : lost) {
        if (i < k) continue;
        expected[i] = stripe.now[i];
        if (!has_buffers) shards[i] = {};
      }
      ASSERT_TRUE(codec.rebuild(shards, lost, {.data_only = true})) << mask;
      ASSERT_EQ(stripe.now, expected) << mask;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codes, EveryLoss,
                         testing::Values(spec_of("default", 4, 2), spec_of("lch", 3, 3),
                                         lrc_of(4, 4, 2), packets_of(4, 2), packets_of(2, 3)));

TEST(Rebuild, AMissingShardWithoutABufferIsNotRebuilt) {
  const Codec codec = *Codec::create(spec_of("default", 4, 3));
  LossyStripe stripe(codec, 100);
  stripe.lose({1, 3, 5});
  std::vector<Shard> shards = stripe.shards();
  shards[1] = {};
  shards[5] = {};
  ASSERT_TRUE(codec.rebuild(shards, Indices{5, 3, 1}));
  EXPECT_EQ(stripe.now[3], stripe.whole[3]);
  EXPECT_EQ(stripe.now[1][0], unwritten);
  EXPECT_EQ(stripe.now[5][0], unwritten);
  shards[3] = {};
  EXPECT_EQ(refusal(codec.rebuild(shards, Indices{5, 3, 1})),
            "shards[1] is missing and has no buffer; expected one for at least one missing shard");
}

// lrc rebuilds what it can: with its group's parity, shard 0 does not need the other group.
TEST(Rebuild, WantedShardsNeedNotTheLostOthers) {
  const Codec codec = *Codec::create(lrc_of(4, 4, 2));
  LossyStripe stripe(codec, 100);
  const Indices lost = {0, 2, 3, 5, 6, 7};
  stripe.lose(lost);
  std::vector<Shard> shards = stripe.shards();
  EXPECT_EQ(codec.rebuild(shards, lost).error().code, ErrorCode::unrecoverable);
  for (const ShardIndex i : lost) {
    if (i != 0) shards[i] = {};
  }
  ASSERT_TRUE(codec.rebuild(shards, lost));
  EXPECT_EQ(stripe.now[0], stripe.whole[0]);
}

TEST(Rebuild, NothingMissingDoesNothing) {
  const Codec codec = *Codec::create(spec_of("default", 4, 2));
  LossyStripe stripe(codec, 100);
  stripe.lose({2});  // not named, so not written
  ASSERT_TRUE(codec.rebuild(stripe.shards(), {}));
  EXPECT_EQ(stripe.now[2][0], unwritten);
  ASSERT_TRUE(codec.rebuild_batch({}, Indices{1}));
  ASSERT_TRUE(codec.rebuild(stripe.shards(), Indices{4, 5}, {.data_only = true}));
}

TEST(Rebuild, RefusalsNameTheShard) {
  const Codec codec = *Codec::create(spec_of("default", 4, 2));
  LossyStripe stripe(codec, 100);
  const std::vector<Shard> good = stripe.shards();
  std::vector<Shard> shards = good;
  EXPECT_EQ(refusal(codec.rebuild(std::span(good).first(5), Indices{1})),
            "shards has 5 entries; expected 6");
  EXPECT_EQ(refusal(codec.rebuild(good, Indices{1, 6})), "missing names shard 6; expected below 6");
  EXPECT_EQ(refusal(codec.rebuild(good, Indices{1, 2, 1})), "missing names shard 1 twice");
  EXPECT_EQ(refusal(codec.rebuild(good, Indices{0, 1, 5})),
            "shards 0, 1, 5 cannot be rebuilt from 3 of 6 shards; absent: 0, 1, 5; needed: any 4");
  EXPECT_EQ(codec.rebuild(good, Indices{0, 1, 5}).error().code, ErrorCode::unrecoverable);
  shards[0] = shards[0].first(99);
  EXPECT_EQ(refusal(codec.rebuild(shards, Indices{0})),
            "shards[0] has 99 bytes; expected 100 like shards[1]");
  shards = good;
  shards[5] = shards[5].first(7);  // present, but not read
  EXPECT_EQ(refusal(codec.rebuild(shards, Indices{0})),
            "shards[5] has 7 bytes; expected 100 like shards[1]");
  EXPECT_EQ(refusal(codec.rebuild(shards, {})),
            "shards[5] has 7 bytes; expected 100 like shards[0]");
  shards = good;
  shards[1] = shards[5];  // present and not read, so that run() alone would overwrite it
  EXPECT_EQ(refusal(codec.rebuild(shards, Indices{1})),
            "shards[1] overlaps shards[5]; expected separate memory");
  shards[1] = shards[4];
  EXPECT_EQ(refusal(codec.rebuild(shards, Indices{4, 1})),
            "shards[4] overlaps shards[1]; expected separate memory");
  const std::vector<std::span<const Shard>> stripes = {good, shards};
  EXPECT_EQ(refusal(codec.rebuild_batch(stripes, Indices{1})),
            "stripes[1][1] overlaps stripes[1][4]; expected separate memory");
  EXPECT_THAT(refusal(codec.rebuild_batch(stripes, Indices{0, 1, 2})), HasSubstr("needed: any 4"));
  EXPECT_EQ(refusal(codec.rebuild_batch(stripes, Indices{2, 2})), "missing names shard 2 twice");
}

TEST(Rebuild, ParityOfPacketsHasItsOwnLength) {
  const Codec codec = *Codec::create(packets_of(4, 2));
  LossyStripe stripe(codec, 101);
  ASSERT_EQ(stripe.whole[4].size(), 104U);
  std::vector<Shard> shards = stripe.shards();
  shards[4] = shards[4].first(101);
  EXPECT_EQ(refusal(codec.rebuild(shards, Indices{4})),
            "shards[4] has 101 bytes; expected 104 like shards[5]");
  shards[5] = shards[5].first(101);
  EXPECT_THAT(refusal(codec.rebuild(shards, Indices{4, 5})),
              HasSubstr("shards[4] has 101 bytes; expected 104 for data shards of 101"));
}

TEST(Rebuild, AMovedFromCodecIsRefused) {
  Codec codec = *Codec::create(spec_of("default", 4, 2));
  const Codec other = std::move(codec);
  EXPECT_THAT(refusal(codec.rebuild({}, {})), HasSubstr("moved from"));
  EXPECT_THAT(refusal(codec.rebuild_batch({}, {})), HasSubstr("moved from"));
}

// More stripes than fit at once, of several lengths, some with a buffer less, one of length 0.
TEST(Rebuild, Batches) {
  for (const CodeSpec& spec : {spec_of("default", 4, 3), packets_of(4, 3)}) {
    for (const unsigned threads : {1U, 3U}) {
      const Codec codec = *Codec::create(spec, {.threads = threads});
      const Indices lost = {6, 0, 2};
      std::vector<LossyStripe> stripes;
      for (std::size_t i = 0; i < 300; ++i) {
        stripes.emplace_back(codec, i == 7 ? 0 : i < 250 ? 640 : 600 + i, i);
        stripes.back().lose(lost);
      }
      std::vector<std::vector<Shard>> lists;
      for (LossyStripe& stripe : stripes)
        lists.push_back(stripe.shards());
      for (std::size_t i = 100; i < 110; ++i)
        lists[i][2] = {};
      const std::vector<std::span<const Shard>> batch(lists.begin(), lists.end());
      ASSERT_TRUE(codec.rebuild_batch(batch, lost));
      for (std::size_t i = 0; i < stripes.size(); ++i) {
        if (i >= 100 && i < 110) {
          EXPECT_EQ(stripes[i].now[2][0], unwritten);
          stripes[i].now[2] = stripes[i].whole[2];
        }
        ASSERT_EQ(stripes[i].now, stripes[i].whole) << i;
      }
    }
  }
}

TEST(Rebuild, ThreadsShareTheCodec) {
  const Codec codec =
      *Codec::create(spec_of("default", 4, 2), {.plan_cache_entries = 4});  // evicts while in use
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&codec, &wrong, t] {
      LossyStripe stripe(codec, 1000, t);
      for (unsigned mask = 1; mask < 64; ++mask) {
        const Indices lost = indices_of(mask);
        if (lost.size() > 2) continue;
        stripe.lose(lost);
        if (!codec.rebuild(stripe.shards(), lost) || stripe.now != stripe.whole) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace calpe
