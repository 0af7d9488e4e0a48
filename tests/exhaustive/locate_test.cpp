// SPDX-License-Identifier: Apache-2.0
// Locates every single wrong shard of all k+m <= 12 with m >= 2, random pairs at m = 4, damage with
// missing shards, and damage beyond the bound. It must never name a good shard.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include <calpe/codec.hpp>

#include "support/profile_lists.hpp"

namespace calpe {
namespace {

struct Stripe {
  Stripe(const Codec& codec, std::size_t bytes, std::mt19937& rng) {
    const CodeSpec& spec = codec.spec();
    for (unsigned i = 0; i < spec.data_shards + spec.parity_shards; ++i) {
      shards.emplace_back(i < spec.data_shards ? bytes : codec.parity_bytes(bytes));
      for (std::byte& b : shards.back())
        b = std::byte(rng());
    }
    const std::vector<ConstShard> data(shards.begin(), shards.begin() + spec.data_shards);
    const std::vector<Shard> parity(shards.begin() + spec.data_shards, shards.end());
    EXPECT_TRUE(codec.encode(data, parity));
  }
  std::vector<ConstShard> view() const { return {shards.begin(), shards.end()}; }
  std::vector<std::vector<std::byte>> shards;
};

// Changes at least one byte of a shard.
void damage(std::vector<std::byte>& shard, std::mt19937& rng) {
  switch (rng() % 3) {
    case 0:
      shard[rng() % shard.size()] ^= std::byte(1 + rng() % 255);
      break;
    case 1:
      for (std::byte& b : shard)
        b ^= std::byte(1 + rng() % 255);
      break;
    default:
      for (int i = 0; i < 3; ++i)
        shard[rng() % shard.size()] = std::byte(rng());
      shard[0] ^= std::byte{0x40};
  }
}

CodeSpec spec_of(const char* profile, unsigned data, unsigned parity, unsigned word_bits = 8) {
  CodeSpec spec = *find_profile(profile);
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  if (word_bits != 8) {
    spec.layout = Layout::packets;
    spec.word_bits = static_cast<std::uint8_t>(word_bits);
  }
  if (spec.layout == Layout::packets) spec.packet_bytes = 8;
  return spec;
}

class EverySingle : public ::testing::TestWithParam<const char*> {};

TEST_P(EverySingle, WrongShardIsNamedAlone) {
  std::mt19937 rng(7);
  unsigned located = 0;
  for (unsigned shards = 3; shards <= 12; ++shards) {
    for (unsigned m = 2; m < shards; ++m) {
      CodeSpec spec = spec_of(GetParam(), shards - m, m);
      if (spec.family == CodeFamily::raid6 && m > 2) continue;
      if (!prove(spec)->proven()) continue;
      const Codec codec = *Codec::create(spec);
      const Stripe good(codec, 64 * spec.word_bits, rng);
      ASSERT_TRUE(codec.locate(good.view())->empty());
      for (unsigned wrong = 0; wrong < shards; ++wrong) {
        for (int kind = 0; kind < 3; ++kind) {
          Stripe bad = good;
          damage(bad.shards[wrong], rng);
          const auto found = codec.locate(bad.view());
          ASSERT_TRUE(found) << found.error().message;
          ASSERT_EQ(*found, std::vector<ShardIndex>{static_cast<ShardIndex>(wrong)})
              << GetParam() << " " << shards - m << "+" << m;
          ++located;
        }
      }
    }
  }
  std::printf("%s: %u single wrong shards, wrong accusations 0\n", GetParam(), located);
}

INSTANTIATE_TEST_SUITE_P(Profiles, EverySingle,
                         ::testing::ValuesIn(tests::names_of(
                             tests::profiles_but({"default", "cauchy-orig", "lrc", "custom"}))));

TEST(Locate, TenThousandRandomPairsAtFourParities) {
  std::mt19937 rng(11);
  const int rounds = std::getenv("CALPE_NIGHTLY") != nullptr ? 1'000'000 : 10'000;
  int named = 0;
  std::vector<Codec> codecs;
  for (const char* profile : {"cauchy", "hybrid", "vandermonde", "vandermonde-isal"}) {
    for (unsigned k : {2U, 4U, 10U, 20U})
      codecs.push_back(*Codec::create(spec_of(profile, k, 4)));
  }
  codecs.push_back(*Codec::create(spec_of("cauchy", 8, 4, 4)));
  for (int i = 0; i < rounds; ++i) {
    const Codec& codec = codecs[rng() % codecs.size()];
    Stripe stripe(codec, 1 + rng() % 90, rng);
    const std::size_t n = stripe.shards.size();
    const std::size_t a = rng() % n;
    const std::size_t b = (a + 1 + rng() % (n - 1)) % n;
    const Stripe good = stripe;
    damage(stripe.shards[a], rng);
    damage(stripe.shards[b], rng);
    std::vector<ShardIndex> truth;
    for (std::size_t s : {std::min(a, b), std::max(a, b)}) {
      if (stripe.shards[s] != good.shards[s]) truth.push_back(static_cast<ShardIndex>(s));
    }
    const auto found = codec.locate(stripe.view());
    ASSERT_TRUE(found) << found.error().message << " round " << i;
    ASSERT_EQ(*found, truth) << "round " << i;
    ++named;
  }
  std::printf("%d pairs named, wrong accusations 0\n", named);
}

TEST(Locate, ManyWrongAndMissingUpToTheBound) {
  std::mt19937 rng(13);
  for (int round = 0; round < 400; ++round) {
    const auto m = static_cast<unsigned>(2 + rng() % 30);
    const auto k = static_cast<unsigned>(1 + rng() % 60);
    const Codec codec = *Codec::create(spec_of(round % 2 == 0 ? "cauchy" : "hybrid", k, m));
    Stripe stripe(codec, 1 + rng() % 40, rng);
    std::vector<ShardIndex> order;
    for (unsigned i = 0; i < k + m; ++i)
      order.push_back(static_cast<ShardIndex>(i));
    std::ranges::shuffle(order, rng);
    const std::size_t missing_count = rng() % m;  // at least one check is left
    const std::size_t wrong_count =
        std::min<std::size_t>((m - missing_count) / 2, k + m - missing_count);
    const std::vector<ShardIndex> missing(order.begin(),
                                          order.begin() + std::ptrdiff_t(missing_count));
    std::vector<ShardIndex> wrong(order.begin() + std::ptrdiff_t(missing_count),
                                  order.begin() + std::ptrdiff_t(missing_count + wrong_count));
    for (const ShardIndex s : missing)
      stripe.shards[s].clear();
    // All in one byte column, where the rank of the syndromes carries no information.
    const std::size_t column = rng() % 1;
    for (const ShardIndex s : wrong)
      stripe.shards[s][column] ^= std::byte(1 + rng() % 255);
    std::ranges::sort(wrong);
    const auto found = codec.locate(stripe.view(), missing);
    ASSERT_TRUE(found) << found.error().message << " " << k << "+" << m << " missing "
                       << missing_count << " wrong " << wrong_count;
    ASSERT_EQ(*found, wrong);
  }
}

TEST(Locate, BeyondTheBoundItIsAmbiguous) {
  std::mt19937 rng(17);
  int ambiguous = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto m = static_cast<unsigned>(2 + rng() % 3);
    const Codec codec = *Codec::create(spec_of("hybrid", 10, m));
    Stripe stripe(codec, 256, rng);
    std::vector<std::size_t> order(10 + m);
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::ranges::shuffle(order, rng);
    // Rewrites whole shards: some column shows that no small explanation fits all.
    for (std::size_t i = 0; i <= m / 2; ++i) {
      for (std::byte& b : stripe.shards[order[i]])
        b ^= std::byte(1 + rng() % 255);
    }
    const auto found = codec.locate(stripe.view());
    ASSERT_FALSE(found) << "accused though " << m / 2 + 1 << " shards are wrong at m = " << m;
    ASSERT_EQ(found.error().code, ErrorCode::ambiguous);
    ++ambiguous;
  }
  std::printf("%d heavy damages, all ambiguous\n", ambiguous);
}

TEST(Locate, LrcWithinItsDistance) {
  std::mt19937 rng(19);
  CodeSpec spec = spec_of("lrc", 12, 4);
  spec.local_groups = 2;  // any three losses: one wrong shard, also with one missing
  const Codec codec = *Codec::create(spec);
  for (int round = 0; round < 300; ++round) {
    Stripe stripe(codec, 50, rng);
    const auto wrong = static_cast<ShardIndex>(rng() % 16);
    const auto missing = static_cast<ShardIndex>((wrong + 1 + rng() % 15) % 16);
    damage(stripe.shards[wrong], rng);
    ASSERT_EQ(*codec.locate(stripe.view()), std::vector<ShardIndex>{wrong});
    ASSERT_EQ(*codec.locate(stripe.view(), std::vector<ShardIndex>{missing}),
              std::vector<ShardIndex>{wrong});
  }
}

}  // namespace
}  // namespace calpe
