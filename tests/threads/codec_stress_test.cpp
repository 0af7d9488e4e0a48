// SPDX-License-Identifier: Apache-2.0
// All operations at once on one codec: plans leave the small cache while other threads make and use
// them, several callers share a pool, and codecs are destroyed before their plans. Meant for the
// tsan build; other builds still compare bytes.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <calpe/codec.hpp>

#include "support/formula_stripe.hpp"
#include "support/random_cases.hpp"
#include "support/random_choice.hpp"

namespace calpe {
namespace {

using namespace tests;
using conformance::Random;
using Bytes = std::vector<std::byte>;

// Long enough for races to show under TSan, short enough to run for every change.
constexpr std::chrono::milliseconds time_per_test(900);

// Calls work(random) on the given number of threads until the time is up or a check fails.
template <class Work>
void run_together(std::size_t thread_count, const Work& work) {
  const auto end = std::chrono::steady_clock::now() + nightly(1) * time_per_test;
  std::atomic<bool> failed = false;
  std::vector<std::string> texts(thread_count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < thread_count; ++t) {
      threads.emplace_back([&, t] {
        try {
          Random random(conformance::run_seed() + t);
          do {
            work(random);
          } while (!failed && std::chrono::steady_clock::now() < end);
        } catch (const std::exception& wrong) {
          texts[t] = wrong.what();
          failed = true;
        }
      });
    }
  }
  for (const std::string& text : texts)
    EXPECT_EQ(text, "") << conformance::repeat_with();
}

// An encoded stripe that all threads only read.
class SharedStripe {
 public:
  SharedStripe(const Codec& codec, std::size_t bytes) : stripe_(make_stripe(codec, bytes)) {
    must(codec.encode(stripe_.data(), stripe_.parity()));
  }
  std::size_t count() const { return stripe_.shard_count(); }
  ConstShard shard(std::size_t index) const { return stripe_.shard(index); }
  Bytes copy(std::size_t index) const { return {shard(index).begin(), shard(index).end()}; }
  std::vector<ConstShard> pick(std::span<const ShardIndex> who) const {
    std::vector<ConstShard> picked;
    for (const ShardIndex i : who)
      picked.push_back(shard(i));
    return picked;
  }
  std::vector<ConstShard> range(std::size_t first, std::size_t end) const {
    std::vector<ConstShard> picked;
    for (std::size_t i = first; i < end; ++i)
      picked.push_back(shard(i));
    return picked;
  }

 private:
  FormulaStripe stripe_;
};

// Plan for a random loss that the code survives.
Plan plan_random_decode(const Codec& codec, Random& random) {
  std::vector<ShardIndex> order;
  for (std::size_t i = 0; i < codec.spec().data_shards + codec.spec().parity_shards; ++i)
    order.push_back(static_cast<ShardIndex>(i));
  random.shuffle(std::span(order));
  const std::size_t losses = random.between<std::size_t>(1, codec.proof().losses);
  return must(codec.plan_decode(std::span(order).subspan(losses), std::span(order).first(losses)));
}

void rebuild(const Codec& codec, const Plan& plan, const SharedStripe& shared) {
  std::vector<Bytes> memory;
  for (const ShardIndex i : plan.writes())
    memory.emplace_back(shared.shard(i).size());
  const std::vector<Shard> outputs(memory.begin(), memory.end());
  must(codec.decode(plan, shared.pick(plan.reads()), outputs));
  for (std::size_t i = 0; i < memory.size(); ++i)
    require(memory[i] == shared.copy(plan.writes()[i]), "a shard was rebuilt wrongly");
}

// Adds a change to a copy of one parity shard and removes it again.
void update(const Codec& codec, const SharedStripe& shared, Random& random) {
  const std::size_t k = codec.spec().data_shards;
  const auto index = static_cast<ShardIndex>(k + random.below(shared.count() - k));
  const auto changed = static_cast<ShardIndex>(random.below(k));
  Bytes parity = shared.copy(index);
  const Shard target = parity;
  const Codec::Change change{.data_index = changed,
                             .offset = random.below(9),
                             .shard_bytes = shared.shard(changed).size(),
                             .parity_indices = {&index, 1}};
  const ConstShard delta = shared.shard(changed).subspan(change.offset);
  must(codec.update(change, delta, {&target, 1}));
  require(parity != shared.copy(index), "an update changed nothing");
  must(codec.update(change, delta, {&target, 1}));
  require(parity == shared.copy(index), "applying an update twice did not undo it");
}

void check(const Codec& codec, const SharedStripe& shared, Random& random) {
  const std::size_t k = codec.spec().data_shards;
  const std::size_t n = shared.count();
  require(must(codec.verify(shared.range(0, k), shared.range(k, n))).empty(), "a false alarm");
  const auto wrong = static_cast<ShardIndex>(random.below(n));
  Bytes damaged = shared.copy(wrong);
  damaged[random.below(damaged.size())] ^= std::byte{4};
  auto shards = shared.range(0, n);
  shards[wrong] = damaged;
  require(must(codec.locate(shards)) == std::vector<ShardIndex>{wrong},
          "locate names another shard");
}

void merge_shares(const Codec& codec, const SharedStripe& shared, Random& random) {
  const Plan plan = plan_random_decode(codec, random);
  Bytes sum(shared.shard(plan.writes()[0]).size());
  std::vector<Bytes> others(plan.writes().size() - 1, Bytes(shared.shard(0).size() + 8));
  std::vector<Shard> outputs = {sum};
  for (std::size_t i = 1; i < plan.writes().size(); ++i)
    outputs.push_back(Shard(others[i - 1]).first(shared.shard(plan.writes()[i]).size()));
  for (const ShardIndex held : plan.reads()) {
    const Plan share = must(codec.plan_partial(plan, {&held, 1}));
    const ConstShard input = shared.shard(held);
    must(codec.run(share, {&input, 1}, outputs, {.accumulate = true}));
  }
  require(sum == shared.copy(plan.writes()[0]), "merged shares are wrong");
}

class CodecStress : public testing::TestWithParam<CodeSpec> {};

TEST_P(CodecStress, EightThreadsShareACodec) {
  const Codec codec = must(Codec::create(GetParam(), {.plan_cache_entries = 4}));
  const SharedStripe shared(codec, 1000 - 1000 % codec.shard_bytes_multiple());
  run_together(8, [&](Random& random) {
    const Codec copy = codec;  // shares everything, including the cache
    const Codec& used = random.coin() ? codec : copy;
    switch (random.below(4)) {
      case 0:
        return update(used, shared, random);
      case 1:
        return check(used, shared, random);
      case 2:
        return merge_shares(used, shared, random);
      default:
        return rebuild(used, plan_random_decode(used, random), shared);
    }
  });
}

TEST_P(CodecStress, FourCallersShareAPool) {
  const Codec codec = must(Codec::create(GetParam(), {.threads = 4, .plan_cache_entries = 4}));
  ASSERT_EQ(codec.threads(), 4U);
  const SharedStripe shared(codec, 150'000 - 150'000 % codec.shard_bytes_multiple());
  run_together(4,
               [&](Random& random) { rebuild(codec, plan_random_decode(codec, random), shared); });
}

// The last owner destroys the pool while other threads still use plans of this codec.
TEST_P(CodecStress, PlansOutliveTheirCodec) {
  const Codec other = must(Codec::create(GetParam()));
  const SharedStripe shared(other, 1000 - 1000 % other.shard_bytes_multiple());
  run_together(2, [&](Random& random) {
    Codec codec = must(Codec::create(GetParam(), {.threads = 2}));
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> users;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        users.emplace_back([copy = std::vector{codec}, &other, &shared, &wrong, seed]() mutable {
          try {
            Random own(seed);
            const Plan plan = plan_random_decode(copy[0], own);
            rebuild(copy[0], plan, shared);
            copy.clear();
            rebuild(other, plan, shared);
          } catch (const std::exception&) {
            ++wrong;
          }
        });
      }
      if (random.coin()) codec = other;
    }
    require(wrong == 0, "a plan did not outlive its codec");
  });
}

CodeSpec packets(CodeFamily family) {
  return {.family = family,
          .layout = Layout::packets,
          .data_shards = 4,
          .parity_shards = 2,
          .word_bits = 4,
          .packet_bytes = 40};
}

INSTANTIATE_TEST_SUITE_P(Codes, CodecStress,
                         testing::Values(CodeSpec{.data_shards = 6, .parity_shards = 3},
                                         packets(CodeFamily::hybrid)),
                         [](const auto& spec) {
                           return spec.param.layout == Layout::bytes ? "bytes" : "packets";
                         });

}  // namespace
}  // namespace calpe
