// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "code/code.hpp"
#include "plan/cauchy_solver.hpp"
#include "plan/decode_planner.hpp"
#include "plan/plan_key.hpp"
#include "plan/recipe.hpp"
#include "plan/source_choice.hpp"

namespace calpe::plan {
namespace {

CodeSpec spec_of(const char* profile, unsigned data, unsigned parity, unsigned groups = 0) {
  CodeSpec spec = *find_profile(profile);
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  spec.local_groups = static_cast<std::uint16_t>(groups);
  return spec;
}

std::vector<ShardIndex> all_but(std::size_t shards, std::vector<ShardIndex> lost) {
  std::vector<ShardIndex> rest;
  for (std::size_t i = 0; i < shards; ++i) {
    if (std::ranges::find(lost, i) == lost.end()) rest.push_back(static_cast<ShardIndex>(i));
  }
  return rest;
}

// A recipe is right if coefficients * generator rows of the reads = generator rows of the writes.
void expect_exact(const code::Code& code, const Recipe& recipe) {
  for (std::size_t r = 0; r < recipe.writes.size(); ++r) {
    for (std::size_t j = 0; j < code.data_shards(); ++j) {
      gf::Element sum = 0;
      for (std::size_t c = 0; c < recipe.reads.size(); ++c) {
        sum = static_cast<gf::Element>(
            sum ^
            code.field->multiply(recipe.coefficients(r, c), code.generator(recipe.reads[c], j)));
      }
      ASSERT_EQ(sum, code.generator(recipe.writes[r], j)) << "row " << r << " data " << j;
    }
  }
}

TEST(CauchySolver, RowsAreExactForRandomPatternsOfWideCodes) {
  std::mt19937 rng(3);
  for (const char* profile : {"cauchy", "hybrid", "vandermonde", "vandermonde-jerasure"}) {
    for (const auto& [k, m] : {std::pair(223U, 32U), std::pair(100U, 156U), std::pair(3U, 200U)}) {
      const code::Code code = *code::make_code(spec_of(profile, k, m));
      const CauchySolver solver(code);
      for (int round = 0; round < 3; ++round) {
        std::vector<ShardIndex> order(k + m);
        std::iota(order.begin(), order.end(), ShardIndex{0});
        std::ranges::shuffle(order, rng);
        Recipe recipe;
        recipe.reads.assign(order.begin(), order.begin() + k);
        recipe.writes.assign(order.begin() + k, order.end());
        std::ranges::sort(recipe.reads);
        recipe.coefficients = solver.coefficients(recipe.reads, recipe.writes);
        expect_exact(code, recipe);
      }
    }
  }
}

TEST(CauchySolver, EncodingIsTheSpecialCaseThatReadsAllData) {
  const code::Code code = *code::make_code(spec_of("hybrid", 10, 4));
  const Recipe encode = encode_recipe(code);
  EXPECT_EQ(CauchySolver(code).coefficients(encode.reads, encode.writes), code.parity);
}

TEST(DecodePlanner, EliminationAndClosedFormGiveTheSameRows) {
  const code::Code code = *code::make_code(spec_of("cauchy", 6, 3));
  const DecodePlanner planner(code);
  for (unsigned lost = 1; lost < 512; ++lost) {
    if (std::popcount(lost) > 3) continue;
    std::vector<ShardIndex> wanted;
    std::vector<Source> sources;
    std::vector<ShardIndex> available;
    for (unsigned i = 0; i < 9; ++i) {
      if ((lost >> i & 1) != 0) {
        wanted.push_back(static_cast<ShardIndex>(i));
      } else {
        available.push_back(static_cast<ShardIndex>(i));
        sources.push_back({.shard = static_cast<ShardIndex>(i), .cost = 1});
      }
    }
    const Recipe closed = *planner.plan(available, wanted, {});
    const Recipe eliminated = *choose_sources(code, sources, wanted);
    ASSERT_EQ(closed.reads, eliminated.reads);
    ASSERT_EQ(closed.coefficients, eliminated.coefficients);
    expect_exact(code, closed);
  }
}

TEST(DecodePlanner, ReadsTheCheapest) {
  const code::Code code = *code::make_code(spec_of("cauchy", 4, 3));
  const DecodePlanner planner(code);
  const std::vector<ShardIndex> available = {1, 2, 3, 4, 5, 6};
  const std::vector<ShardIndex> wanted = {0};
  const std::vector<std::uint32_t> costs = {9, 1, 9, 1, 1, 1};
  EXPECT_EQ(planner.plan(available, wanted, costs)->reads, (std::vector<ShardIndex>{2, 4, 5, 6}));
  EXPECT_EQ(planner.plan(available, wanted, {})->reads, (std::vector<ShardIndex>{1, 2, 3, 4}));
}

TEST(DecodePlanner, LrcReadsItsLocalGroup) {
  const code::Code code = *code::make_code(spec_of("lrc", 12, 4, 2));
  const DecodePlanner planner(code);
  for (ShardIndex lost = 0; lost < 14; ++lost) {  // data and local parities
    const std::vector<ShardIndex> wanted = {lost};
    const Recipe recipe = *planner.plan(all_but(16, wanted), wanted, {});
    EXPECT_EQ(recipe.reads.size(), 6U) << lost;
    expect_exact(code, recipe);
  }
  // One of each group: two local repairs, twelve reads.
  const std::vector<ShardIndex> two = {0, 7};
  EXPECT_EQ(planner.plan(all_but(16, two), two, {})->reads.size(), 12U);
  // Two of one group: a global parity is needed.
  const std::vector<ShardIndex> same = {0, 1};
  const Recipe recipe = *planner.plan(all_but(16, same), same, {});
  expect_exact(code, recipe);
  EXPECT_EQ(recipe.reads.size(), 12U);
}

TEST(DecodePlanner, LrcLeavesTheGroupWhereThatIsCheaper) {
  const code::Code code = *code::make_code(spec_of("lrc", 4, 4, 2));
  const DecodePlanner planner(code);
  const std::vector<ShardIndex> wanted = {0};
  const std::vector<ShardIndex> available = all_but(8, wanted);  // 1..7
  std::vector<std::uint32_t> costs(7, 1);
  EXPECT_EQ(planner.plan(available, wanted, costs)->reads, (std::vector<ShardIndex>{1, 4}));
  costs[3] = 100;  // shard 4, the local parity
  const Recipe recipe = *planner.plan(available, wanted, costs);
  EXPECT_EQ(std::ranges::count(recipe.reads, 4), 0);
  expect_exact(code, recipe);
}

// A group is its data and its parity, whichever is lost. Two reads of cost 2 within the group cost
// as much as four of cost 1 outside.
TEST(DecodePlanner, LrcGroupsIncludeTheirParity) {
  const code::Code code = *code::make_code(spec_of("lrc", 4, 4, 2));
  const DecodePlanner planner(code);
  for (const std::vector<ShardIndex>& group :
       {std::vector<ShardIndex>{0, 1, 4}, std::vector<ShardIndex>{2, 3, 5}}) {
    for (const ShardIndex lost : group) {
      const std::vector<ShardIndex> wanted = {lost};
      const std::vector<ShardIndex> available = all_but(8, wanted);
      std::vector<std::uint32_t> costs;
      std::vector<ShardIndex> rest;
      for (const ShardIndex shard : available) {
        const bool is_in_group = std::ranges::find(group, shard) != group.end();
        costs.push_back(is_in_group ? 2 : 1);
        if (is_in_group) rest.push_back(shard);
      }
      const Recipe recipe = *planner.plan(available, wanted, costs);
      EXPECT_EQ(recipe.reads, rest) << lost;
      expect_exact(code, recipe);
    }
  }
}

TEST(DecodePlanner, AcceptsWantedAndHeldShardsInAnyOrder) {
  const code::Code code = *code::make_code(spec_of("cauchy", 6, 3));
  const DecodePlanner planner(code);
  std::vector<ShardIndex> shards = {1, 5, 7};
  do {
    const Recipe recipe = *planner.plan(all_but(9, shards), shards, {});
    EXPECT_EQ(recipe.writes, shards);
    expect_exact(code, recipe);
  } while (std::ranges::next_permutation(shards).found);

  const std::vector<ShardIndex> wanted = {0, 8};
  const Recipe whole = *planner.plan(all_but(9, wanted), wanted, {});
  std::vector<ShardIndex> held = {2, 3, 6};
  const std::vector<ShardIndex> ascending = held;
  const Recipe expected = *partial_recipe(whole, held);
  do {
    const Recipe part = *partial_recipe(whole, held);
    EXPECT_EQ(part.reads, ascending);
    EXPECT_EQ(part.coefficients, expected.coefficients);
  } while (std::ranges::next_permutation(held).found);
}

TEST(DecodePlanner, EveryLrcPatternThatCanBeRebuiltIs) {
  const code::Code code = *code::make_code(spec_of("lrc", 6, 4, 2));
  const DecodePlanner planner(code);
  for (unsigned lost = 1; lost < 1024; ++lost) {
    if (std::popcount(lost) > 4) continue;
    std::vector<ShardIndex> wanted;
    for (unsigned i = 0; i < 10; ++i) {
      if ((lost >> i & 1) != 0) wanted.push_back(static_cast<ShardIndex>(i));
    }
    const auto recipe = planner.plan(all_but(10, wanted), wanted, {});
    const bool data_lost = std::ranges::any_of(wanted, [](ShardIndex s) { return s < 6; });
    if (!recipe) {
      ASSERT_EQ(recipe.error().code, ErrorCode::unrecoverable);
      ASSERT_TRUE(data_lost);
      continue;
    }
    expect_exact(code, *recipe);
  }
}

TEST(DecodePlanner, RefusalsListSomeOfManyShards) {
  CodeSpec spec;
  spec.data_shards = 40'000;
  spec.parity_shards = 1000;
  const code::Code code = *code::make_code(spec);
  const DecodePlanner planner(code);
  std::vector<ShardIndex> wanted(1001);
  std::iota(wanted.begin(), wanted.end(), ShardIndex{30'000});
  const std::string message = planner.plan(all_but(41'000, wanted), wanted, {}).error().message;
  EXPECT_EQ(message.find("shards 30000, 30001, 30002, "), 0U) << message;
  EXPECT_NE(message.find(", 30015 and 985 more cannot be rebuilt from 39999 of 41000 shards"),
            std::string::npos)
      << message;
  EXPECT_TRUE(message.ends_with(" and 985 more; needed: any 40000")) << message;
  EXPECT_LT(message.size(), 508U);  // calpe_error
}

TEST(DecodePlanner, RefusalsNameTheOperand) {
  const code::Code code = *code::make_code(spec_of("cauchy", 4, 2));
  const DecodePlanner planner(code);
  const std::vector<ShardIndex> available = {0, 1, 2};
  const std::vector<ShardIndex> wanted = {3};
  EXPECT_EQ(planner.plan(available, wanted, {}).error().message,
            "shards 3 cannot be rebuilt from 3 of 6 shards; absent: 3, 4, 5; needed: any 4");
  const std::vector<ShardIndex> twice = {0, 1, 1};
  EXPECT_EQ(planner.plan(twice, wanted, {}).error().message, "available names shard 1 twice");
  const std::vector<ShardIndex> beyond = {6};
  EXPECT_EQ(planner.plan(available, beyond, {}).error().message,
            "wanted names shard 6; expected below 6");
  const std::vector<std::uint32_t> costs = {1};
  EXPECT_FALSE(planner.plan(available, wanted, costs));
  // A wanted shard is not a source, even if it is available.
  const std::vector<ShardIndex> with_wanted = {0, 1, 2, 3};
  EXPECT_FALSE(planner.plan(with_wanted, wanted, {}));
}

TEST(UpdateRecipe, AddsTheParityCoefficientsOfOneDataShard) {
  const code::Code code = *code::make_code(spec_of("cauchy", 5, 3));
  const std::vector<ShardIndex> some = {7, 5};
  for (ShardIndex data = 0; data < 5; ++data) {
    for (const std::size_t addends : {1U, 2U}) {
      for (const auto& parity : {std::vector<ShardIndex>(), some}) {
        const Recipe recipe = *update_recipe(code, data, parity, addends);
        EXPECT_EQ(recipe.reads, std::vector<ShardIndex>(addends, data));
        EXPECT_EQ(recipe.writes, parity.empty() ? (std::vector<ShardIndex>{5, 6, 7}) : some);
        ASSERT_EQ(recipe.coefficients.rows(), recipe.writes.size());
        ASSERT_EQ(recipe.coefficients.columns(), addends);
        for (std::size_t r = 0; r < recipe.writes.size(); ++r) {
          for (std::size_t c = 0; c < addends; ++c)
            EXPECT_EQ(recipe.coefficients(r, c), code.parity(recipe.writes[r] - 5, data));
        }
      }
    }
  }
  EXPECT_EQ(update_recipe(code, 5, {}, 1).error().message, "data_index is 5; expected below 5");
  EXPECT_EQ(update_recipe(code, 0, std::vector<ShardIndex>{5, 4}, 1).error().message,
            "parity names shard 4; expected a parity shard: 5..7");
}

TEST(PartialRecipe, TakesTheColumnsOfTheHeldShards) {
  const code::Code code = *code::make_code(spec_of("cauchy", 5, 3));
  const Recipe whole = encode_recipe(code);
  const Recipe part = *partial_recipe(whole, std::vector<ShardIndex>{4, 1});
  EXPECT_EQ(part.reads, (std::vector<ShardIndex>{1, 4}));
  EXPECT_EQ(part.writes, whole.writes);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(part.coefficients(r, 0), code.parity(r, 1));
    EXPECT_EQ(part.coefficients(r, 1), code.parity(r, 4));
  }
  EXPECT_EQ(partial_recipe(whole, std::vector<ShardIndex>{0, 5}).error().message,
            "held names shard 5, which the plan does not read");
}

TEST(PlanKey, DiffersWheneverSpecOrPatternDoes) {
  const CodeSpec base = code::make_code(spec_of("cauchy", 4, 2))->spec;
  const std::vector<ShardIndex> one = {0, 1, 2, 4};
  const std::vector<ShardIndex> two = {3};
  const auto key = [&](const CodeSpec& spec, PlanKind kind, std::span<const ShardIndex> a,
                       std::span<const ShardIndex> b) {
    PlanKey made(spec, kind);
    made.add(a);
    made.add(b);
    return std::string(made.view());
  };
  std::vector<std::string> keys = {key(base, PlanKind::decode, one, two),
                                   key(base, PlanKind::update, one, two),
                                   key(base, PlanKind::decode, two, one)};
  const auto changed = [&](auto change) {
    CodeSpec spec = base;
    change(spec);
    keys.push_back(key(spec, PlanKind::decode, one, two));
  };
  changed([](CodeSpec& s) { s.family = CodeFamily::hybrid; });
  changed([](CodeSpec& s) { s.layout = Layout::packets; });
  changed([](CodeSpec& s) { ++s.data_shards; });
  changed([](CodeSpec& s) { ++s.parity_shards; });
  changed([](CodeSpec& s) { s.word_bits = 4; });
  changed([](CodeSpec& s) { s.polynomial = 0x11B; });
  changed([](CodeSpec& s) { s.packet_bytes = 8; });
  changed([](CodeSpec& s) { s.local_groups = 1; });
  changed([](CodeSpec& s) { ++s.matrix_hash; });
  // {0,1} + {2,4,3} must differ from {0,1,2,4} + {3}.
  keys.push_back(
      key(base, PlanKind::decode, std::vector<ShardIndex>{0, 1}, std::vector<ShardIndex>{2, 4, 3}));
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
}

}  // namespace
}  // namespace calpe::plan
