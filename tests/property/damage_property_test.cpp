// SPDX-License-Identifier: Apache-2.0
// verify and locate name exactly the damaged shards. 22,000 random cases.
#include <algorithm>
#include <cstddef>
#include <gtest/gtest.h>
#include <vector>

#include <calpe/codec.hpp>

#include "support/trial_stripe.hpp"

namespace calpe {
namespace {

using namespace tests;

void damage(Random& random, Shard shard) {
  for (std::size_t i = 0; i < 1 + random.below(3); ++i)
    shard[random.below(shard.size())] ^= static_cast<std::byte>(1 + random.below(255));
}

// Changes at least one byte of the stripe.
void damage_surely(Trial& trial, ShardIndex index) {
  const Shard shard = trial.stripe[index];
  do {
    damage(trial.random, shard);
  } while (equal_bytes(shard, trial.before[index]));
}

TEST(DamageProperty, VerifyNamesExactlyTheDamaged) {
  check_cases(
      12'000, [](Draw& draw) { return draw_case(draw); },
      [](const CodecCase& c) {
        Trial trial(c);
        const auto data = as_inputs(trial.data_of(trial.stripe));
        const auto parity = as_inputs(trial.parity_of(trial.stripe));
        require(must(trial.codec.verify(data, parity)).empty(),
                "verify reports damage in a good stripe");
        trial.require_unchanged();
        if (trial.shard_bytes == 0) return;

        // One data shard, which shows in every parity that depends on it, or any parities.
        const std::size_t k = trial.data_shards();
        const std::size_t m = trial.shard_count() - k;
        auto bad = trial.choose(trial.random.between<std::size_t>(1, m), k, trial.shard_count());
        std::ranges::sort(bad);
        if (trial.random.coin()) {
          const auto wrong = static_cast<ShardIndex>(trial.random.below(k));
          damage_surely(trial, wrong);
          bad.clear();
          for (std::size_t i = 0; i < m; ++i) {
            const auto cell = trial.codec.plan_encode().coefficients()[i * k + wrong];
            if (cell != 0) bad.push_back(static_cast<ShardIndex>(k + i));
          }
        } else {
          for (const ShardIndex i : bad)
            damage_surely(trial, i);
        }
        require(must(trial.codec.verify(data, parity)) == bad, "verify names other shards");
        require(trial.arena.intact(), "bytes next to a shard were written");
      });
}

TEST(DamageProperty, LocateNamesExactlyTheWrong) {
  const auto draw_short = [](Draw& draw) { return draw_case(draw, {.shard_bytes_max = 9000}); };
  check_cases(7'000, draw_short, [](const CodecCase& c) {
    Trial trial(c);
    if (trial.shard_bytes == 0) return;
    const std::size_t losses = trial.codec.proof().losses;
    const std::size_t wrong_count = trial.random.below(losses / 2 + 1);
    // At least one check must be left.
    const std::size_t parity = trial.codec.spec().parity_shards;
    const std::size_t missing_max = std::min(losses - 2 * wrong_count, parity - 1 - wrong_count);
    auto touched =
        trial.choose(wrong_count + trial.random.below(missing_max + 1), 0, trial.shard_count());
    const std::vector<ShardIndex> missing(
        touched.begin() + static_cast<std::ptrdiff_t>(wrong_count), touched.end());
    touched.resize(wrong_count);
    for (const ShardIndex i : touched)
      damage_surely(trial, i);
    auto shards = as_inputs(trial.stripe);
    for (const ShardIndex i : missing) {
      if (trial.random.coin())
        shards[i] = {};
      else
        fill_random(trial.random, trial.stripe[i]);
    }
    std::ranges::sort(touched);
    require(must(trial.codec.locate(shards, missing)) == touched, "locate names other shards");
    require(trial.arena.intact(), "bytes next to a shard were written");
  });
}

// Each byte column has one wrong shard, which is found, but together there are too many.
TEST(DamageProperty, BeyondTheBoundNoShardIsNamed) {
  const auto draw_bytes = [](Draw& draw) {
    CodecCase c = draw_case(draw, {.shard_bytes_max = 2000});
    c.shard_bytes += 64;
    return c;
  };
  check_cases(3'000, draw_bytes, [](const CodecCase& c) {
    if (c.spec.layout != Layout::bytes) return;
    Trial trial(c);
    const std::size_t losses = trial.codec.proof().losses;
    // In lrc, the remaining checks may not see the damage.
    if (losses != trial.codec.spec().parity_shards) return;
    const std::size_t missing_count = trial.random.below(losses + 1);
    const std::size_t wrong_count = (losses - missing_count) / 2 + 1;
    if (missing_count + wrong_count > trial.shard_count()) return;
    auto wrong = trial.choose(missing_count + wrong_count, 0, trial.shard_count());
    const std::vector<ShardIndex> missing(wrong.begin() + static_cast<std::ptrdiff_t>(wrong_count),
                                          wrong.end());
    wrong.resize(wrong_count);
    for (std::size_t i = 0; i < wrong.size(); ++i)
      trial.stripe[wrong[i]][i] ^= static_cast<std::byte>(1 + trial.random.below(255));
    // With as many missing as the code survives, no check is left.
    const auto found = trial.codec.locate(as_inputs(trial.stripe), missing);
    const ErrorCode expected =
        missing_count == losses ? ErrorCode::unrecoverable : ErrorCode::ambiguous;
    require(!found && found.error().code == expected, "locate names shards beyond the bound");
  });
}

}  // namespace
}  // namespace calpe
