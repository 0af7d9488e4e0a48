// SPDX-License-Identifier: Apache-2.0
// Eight threads share one codec and its plan cache, which is so small that entries are evicted
// while other threads use them. Meant for the tsan build; other builds still compare bytes.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <calpe/codec.hpp>

namespace {

constexpr std::size_t thread_count = 8;
constexpr std::uint16_t data_shards = 6;
constexpr std::uint16_t parity_shards = 3;

using Bytes = std::vector<std::byte>;

struct Work {
  std::size_t shard_bytes = 0;
  int rounds = 0;  // per thread; fifty times as many in the nightly run
};

std::vector<Bytes> make_stripe(std::size_t shard_bytes, std::uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<Bytes> stripe(data_shards + parity_shards, Bytes(shard_bytes));
  for (std::size_t i = 0; i < data_shards; ++i) {
    for (std::byte& byte : stripe[i])
      byte = static_cast<std::byte>(random() & 0xFF);
  }
  return stripe;
}

std::vector<calpe::ConstShard> views(const std::vector<Bytes>& stripe,
                                     std::span<const calpe::ShardIndex> indices) {
  std::vector<calpe::ConstShard> result;
  for (const calpe::ShardIndex index : indices)
    result.emplace_back(stripe[index]);
  return result;
}

void encode(const calpe::Codec& codec, std::vector<Bytes>& stripe) {
  const std::vector<calpe::ConstShard> data = views(stripe, codec.plan_encode().reads());
  std::vector<calpe::Shard> parity;
  for (std::size_t i = data_shards; i < stripe.size(); ++i)
    parity.emplace_back(stripe[i]);
  EXPECT_TRUE(codec.encode(data, parity));
}

// Loses `parity_shards` random shards and compares the rebuilt ones.
bool survives_a_loss(const calpe::Codec& codec, const std::vector<Bytes>& stripe,
                     std::minstd_rand& random) {
  std::vector<calpe::ShardIndex> order(stripe.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<calpe::ShardIndex>(i);
  std::shuffle(order.begin(), order.end(), random);
  const std::span<const calpe::ShardIndex> lost = std::span(order).first(parity_shards);
  const std::span<const calpe::ShardIndex> available = std::span(order).subspan(parity_shards);

  const auto plan = codec.plan_decode(available, lost);
  if (!plan) return false;
  std::array<Bytes, parity_shards> rebuilt;
  std::vector<calpe::Shard> outputs;
  for (Bytes& bytes : rebuilt)
    outputs.emplace_back(bytes = Bytes(stripe[0].size()));
  if (!codec.decode(*plan, views(stripe, plan->reads()), outputs)) return false;
  for (std::size_t i = 0; i < rebuilt.size(); ++i) {
    if (rebuilt[i] != stripe[plan->writes()[i]]) return false;
  }
  // The same in one call, in a copy, with a key of its own in the plan cache.
  std::vector<Bytes> copy = stripe;
  for (const calpe::ShardIndex index : lost)
    std::ranges::fill(copy[index], std::byte{0});
  const std::vector<calpe::Shard> shards(copy.begin(), copy.end());
  return codec.rebuild(shards, lost) && copy == stripe;
}

void run_threads(const calpe::Codec& codec, const Work& work) {
  const int rounds = work.rounds * (std::getenv("CALPE_NIGHTLY") != nullptr ? 50 : 1);
  std::vector<Bytes> shared = make_stripe(work.shard_bytes, 1);
  encode(codec, shared);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t seed = 1; seed <= thread_count; ++seed) {
      threads.emplace_back([&, seed] {
        const calpe::Codec copy = codec;  // copies share everything, including the cache
        std::vector<Bytes> own = make_stripe(work.shard_bytes, seed);
        encode(copy, own);
        std::minstd_rand random(seed);
        for (int round = 0; round < rounds; ++round) {
          if (!survives_a_loss(copy, own, random)) ++wrong;
          if (!survives_a_loss(codec, shared, random)) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(SharedCodec, ThreadsOfTheCaller) {
  const auto codec = calpe::Codec::create(
      {.data_shards = data_shards, .parity_shards = parity_shards}, {.plan_cache_entries = 8});
  ASSERT_TRUE(codec) << codec.error().message;
  run_threads(*codec, {.shard_bytes = 1000, .rounds = 100});
}

// Long enough to be split over the pool, which all callers share.
TEST(SharedCodec, ThreadsOfTheCallerAndAPool) {
  const auto codec =
      calpe::Codec::create({.data_shards = data_shards, .parity_shards = parity_shards},
                           {.threads = 3, .plan_cache_entries = 8});
  ASSERT_TRUE(codec) << codec.error().message;
  run_threads(*codec, {.shard_bytes = 300'000, .rounds = 2});
}

}  // namespace
