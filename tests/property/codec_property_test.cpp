// SPDX-License-Identifier: Apache-2.0
// Properties of every code, length, address and CPU path: decode, update, linearity, partial sums,
// paths and threads. 110,000 random cases; the other two property tests have 90,000 more.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

#include "support/trial_stripe.hpp"

namespace calpe {
namespace {

using namespace tests;

bool contains(std::span<const ShardIndex> list, ShardIndex shard) {
  return std::ranges::find(list, shard) != list.end();
}

bool is_mds(const Codec& codec) {
  return codec.proof().losses == codec.spec().parity_shards;
}

// Reads no wanted or absent shard; an MDS code reads the k cheapest.
void require_good_reads(const Trial& trial, const Plan& plan, std::span<const ShardIndex> available,
                        std::span<const ShardIndex> wanted, std::span<const std::uint32_t> costs) {
  require(std::ranges::is_sorted(plan.reads()), "reads do not ascend");
  std::uint64_t paid = 0;
  std::vector<std::uint32_t> prices;  // of every shard that may be read
  for (std::size_t i = 0; i < available.size(); ++i) {
    const std::uint32_t price = costs.empty() ? 1 : costs[i];
    if (contains(plan.reads(), available[i])) paid += price;
    if (!contains(wanted, available[i])) prices.push_back(price);
  }
  for (const ShardIndex read : plan.reads()) {
    require(contains(available, read), "reads a shard that is not available");
    require(!contains(wanted, read), "reads a wanted shard");
  }
  const std::size_t k = trial.data_shards();
  require(plan.reads().size() <= k, "reads more than k shards");
  if (!is_mds(trial.codec)) return;
  std::ranges::sort(prices);
  std::uint64_t cheapest = 0;
  for (std::size_t i = 0; i < k; ++i)
    cheapest += prices[i];
  require(paid <= cheapest, "the reads are not the cheapest");
}

TEST(CodecProperty, DecodeRebuildsAnyLoss) {
  check_cases(
      40'000, [](Draw& draw) { return draw_case(draw); },
      [](const CodecCase& c) {
        Trial trial(c);
        const auto lost = trial.random_loss();
        // Some lost shards are wanted, and a wanted shard may be available.
        std::vector<ShardIndex> wanted = lost;
        wanted.resize(trial.random.between<std::size_t>(1, lost.size()));
        std::vector<ShardIndex> available = trial.all_but(lost);
        if (trial.random.one_in(4)) available.push_back(wanted.front());
        trial.random.shuffle(std::span(available));
        std::vector<std::uint32_t> costs;
        for (std::size_t i = 0; trial.random.coin() && i < available.size(); ++i)
          costs.push_back(static_cast<std::uint32_t>(trial.random.below(9)));
        costs.resize(costs.empty() ? 0 : available.size());

        // Neighbours in the cache: the same shards with other wanted shards or costs are other
        // plans.
        must(trial.codec.plan_decode(available, {&wanted.back(), 1}, costs));
        must(trial.codec.plan_decode(available, wanted));
        const Plan plan = must(trial.codec.plan_decode(available, wanted, costs));
        require(std::ranges::equal(plan.writes(), wanted), "writes are not what was wanted");
        require_good_reads(trial, plan, available, wanted, costs);
        const auto rebuilt = trial.blanks(plan.writes());
        must(trial.codec.decode(plan, trial.pick(trial.stripe, plan.reads()), rebuilt,
                                {.stores = trial.any_stores()}));
        require_shards(trial, rebuilt, plan.writes(), "the rebuilt copy");
        trial.require_unchanged();
      });
}

TEST(CodecProperty, UpdateEqualsEncodingAgain) {
  check_cases(
      25'000, [](Draw& draw) { return draw_case(draw); },
      [](const CodecCase& c) {
        Trial trial(c);
        const std::size_t k = trial.data_shards();
        const auto changed = static_cast<ShardIndex>(trial.random.below(k));
        const std::size_t offset = trial.random.below(trial.shard_bytes + 1);
        const Shard delta = trial.take(trial.random.below(trial.shard_bytes - offset + 1));
        fill_random(trial.random, delta);

        const auto expected = trial.copies(trial.stripe);
        must(add(expected[changed].subspan(offset, delta.size()), delta));
        must(trial.codec.encode(as_inputs(trial.data_of(expected)), trial.parity_of(expected)));

        // In any order: parity[i] is the shard parity_indices[i].
        std::vector<ShardIndex> named;
        if (trial.random.coin()) {
          named = trial.choose(trial.random.between<std::size_t>(1, trial.shard_count() - k), k,
                               trial.shard_count());
        }
        std::vector<Shard> parity = trial.copies(trial.parity_of(trial.stripe));
        if (!named.empty()) {
          parity.clear();
          for (const ShardIndex i : named)
            parity.push_back(trial.arena.copy(trial.stripe[i], trial.random.below(64)));
        }
        const Codec::Change change{.data_index = changed,
                                   .offset = offset,
                                   .shard_bytes = trial.shard_bytes,
                                   .parity_indices = named};
        if (trial.random.coin()) {
          must(trial.codec.update(change, delta, parity));
        } else {
          must(trial.codec.update(change, trial.stripe[changed].subspan(offset, delta.size()),
                                  expected[changed].subspan(offset, delta.size()), parity));
        }
        for (std::size_t i = 0; i < parity.size(); ++i) {
          const std::size_t shard = named.empty() ? k + i : named[i];
          require(equal_bytes(parity[i], expected[shard]),
                  "updated parity " + std::to_string(shard) + " differs from encoding again");
        }
        trial.require_unchanged();
      });
}

TEST(CodecProperty, EncodingIsLinear) {
  check_cases(
      12'000, [](Draw& draw) { return draw_case(draw); },
      [](const CodecCase& c) {
        Trial trial(c);
        const auto other = trial.make_stripe(trial.shard_bytes);
        const auto sum = trial.copies(trial.stripe);
        for (std::size_t i = 0; i < sum.size(); ++i)
          must(add(sum[i], other[i]));
        const auto again = trial.copies(sum);
        must(trial.codec.encode(as_inputs(trial.data_of(sum)), trial.parity_of(again)));
        for (std::size_t i = trial.data_shards(); i < sum.size(); ++i)
          require(equal_bytes(again[i], sum[i]), "encode(a ^ b) is not encode(a) ^ encode(b)");
        trial.require_unchanged();
      });
}

TEST(CodecProperty, PartialSumsMergeToTheWhole) {
  check_cases(
      18'000, [](Draw& draw) { return draw_case(draw); },
      [](const CodecCase& c) {
        Trial trial(c);
        const Plan plan = trial.random_plan();
        // Every read goes to one of up to four holders; some may hold nothing.
        std::vector<std::vector<ShardIndex>> holders(trial.random.between<std::size_t>(1, 4));
        for (const ShardIndex read : plan.reads())
          holders[trial.random.below(holders.size())].push_back(read);

        const auto merged = trial.blanks(plan.writes());
        bool is_first = true;
        for (auto& held : holders) {
          trial.random.shuffle(std::span(held));
          const Plan share = must(trial.codec.plan_partial(plan, held));
          const auto inputs = trial.pick(trial.stripe, share.reads());
          if (is_first) {
            must(trial.codec.run(share, inputs, merged, {.stores = trial.any_stores()}));
          } else if (trial.random.coin()) {
            must(trial.codec.run(share, inputs, merged, {.accumulate = true}));
          } else {
            const auto elsewhere = trial.blanks(plan.writes());
            must(trial.codec.run(share, inputs, elsewhere));
            for (std::size_t i = 0; i < merged.size(); ++i)
              must(add(merged[i], elsewhere[i]));
          }
          is_first = false;
        }
        require_shards(trial, merged, plan.writes(), "the merged sum");
        trial.require_unchanged();
      });
}

TEST(CodecProperty, EveryPathWritesTheSameBytes) {
  const auto draw_short = [](Draw& draw) { return draw_case(draw, {.shard_bytes_max = 3000}); };
  check_cases(12'000, draw_short, [](const CodecCase& c) {
    Trial trial(c);
    const auto lost = trial.random_loss();
    const Plan made_here = must(trial.codec.plan_decode(trial.all_but(lost), lost));
    for (const std::string& path : available_cpu_paths()) {
      const Codec other = must(make_codec(c, {.backend = path}));
      require(other.spec() == trial.codec.spec(), path + " has another spec");
      const auto parity = trial.copies(trial.stripe);
      must(other.encode(as_inputs(trial.data_of(trial.stripe)), trial.parity_of(parity),
                        {.stores = trial.any_stores()}));
      for (std::size_t i = trial.data_shards(); i < parity.size(); ++i)
        require(equal_bytes(parity[i], trial.stripe[i]), path + " encodes other bytes");
      // A plan is valid with every codec of its spec, also on another path.
      const Plan plan =
          trial.random.coin() ? made_here : must(other.plan_decode(trial.all_but(lost), lost));
      const auto rebuilt = trial.blanks(plan.writes());
      must(other.decode(plan, trial.pick(trial.stripe, plan.reads()), rebuilt,
                        {.stores = trial.any_stores()}));
      require_shards(trial, rebuilt, plan.writes(), path + ": the rebuilt copy");
    }
    trial.require_unchanged();
  });
}

// Long enough to be divided: by stripes, by groups of packets and by columns.
TEST(CodecProperty, ThreadsChangeNothing) {
  const auto draw_long = [](Draw& draw) {
    CodecCase c = draw_case(draw);
    if (c.backend != "reference") c.shard_bytes = draw.between(20'000, 65'536 + 63);
    return c;
  };
  check_cases(3'000, draw_long, [](const CodecCase& c) {
    Trial trial(c);
    const Codec threaded = must(make_codec(c, {.threads = trial.random.between<unsigned>(2, 5)}));
    const Plan plan = trial.random_plan();
    const std::size_t stripes = trial.random.coin() ? 1 : trial.random.between<std::size_t>(2, 9);
    const auto inputs = trial.pick(trial.stripe, plan.reads());
    std::vector<std::vector<Shard>> outputs(stripes);
    std::vector<Stripe> batch;
    for (auto& shards : outputs) {
      shards = trial.blanks(plan.writes());
      batch.push_back({.inputs = inputs, .outputs = shards});
    }
    must(threaded.run_batch(plan, batch, {.stores = trial.any_stores()}));
    for (const auto& shards : outputs)
      require_shards(trial, shards, plan.writes(), "with threads, the copy");
    trial.require_unchanged();
  });
}

}  // namespace
}  // namespace calpe
