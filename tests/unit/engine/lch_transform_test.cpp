// SPDX-License-Identifier: Apache-2.0
// A plan that becomes a transform equals it, coefficient by coefficient.
#include "engine/lch_transform.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "code/code.hpp"
#include "ir/verify.hpp"
#include "plan/decode_planner.hpp"
#include "plan/recipe.hpp"
#include "support/random_choice.hpp"
#include "support/recipe_transform.hpp"

namespace calpe::engine {
namespace {

using code::Code;
using conformance::Random;
using plan::Recipe;

Code lch(std::size_t data, std::size_t parity) {
  return tests::code_of(CodeFamily::lch, data, parity);
}

std::string describe(const Code& code, const Recipe& recipe) {
  std::string text =
      std::to_string(code.data_shards()) + "+" + std::to_string(code.parity_shards()) + ", reads";
  for (const ShardIndex shard : recipe.reads)
    text += " " + std::to_string(shard);
  text += ", writes";
  for (const ShardIndex shard : recipe.writes)
    text += " " + std::to_string(shard);
  return text;
}

// True if the transform is right or there is none. `found` counts the right ones, so that a test
// without any is noticed.
testing::AssertionResult is_right(const Code& code, const Recipe& recipe, int& found) {
  const auto transform = lch_transform(code, recipe);
  if (!transform) return testing::AssertionSuccess();
  ++found;
  const Status same = ir::verify_map(ir::expand(*transform), recipe.coefficients);
  if (same) return testing::AssertionSuccess();
  return testing::AssertionFailure() << same.error().message << ": " << describe(code, recipe);
}

// Chooses `count` of [first, end), ascending.
std::vector<ShardIndex> choose(Random& random, std::size_t count, std::size_t first,
                               std::size_t end) {
  std::vector<ShardIndex> all(end - first);
  std::iota(all.begin(), all.end(), static_cast<ShardIndex>(first));
  random.shuffle(std::span(all));
  all.resize(count);
  std::ranges::sort(all);
  return all;
}

struct Loss {
  std::size_t data = 0;
  std::size_t parity = 0;
};

// Loses the given numbers of both and wants them all, or (some) only a part.
Recipe decode(Random& random, const plan::DecodePlanner& planner, const Loss& loss,
              bool wants_all = true) {
  const Code& code = planner.code();
  std::vector<ShardIndex> lost = choose(random, loss.data, 0, code.data_shards());
  const auto parity = choose(random, loss.parity, code.data_shards(), code.shards());
  lost.insert(lost.end(), parity.begin(), parity.end());
  std::vector<ShardIndex> left;
  for (std::size_t i = 0; i < code.shards(); ++i) {
    const auto shard = static_cast<ShardIndex>(i);
    if (std::ranges::find(lost, shard) == lost.end()) left.push_back(shard);
  }
  std::vector<std::uint32_t> costs(left.size(), 1);
  if (random.one_in(3)) {  // expensive data: reads more parity than needed
    for (std::uint32_t& cost : costs)
      cost = static_cast<std::uint32_t>(random.below(3));
  }
  if (!wants_all) {
    random.shuffle(std::span(lost));
    lost.resize(random.between<std::size_t>(1, lost.size()));
  }
  return *planner.plan(left, lost, costs);
}

Loss random_loss(Random& random, const Code& code) {
  const std::size_t lost = random.between<std::size_t>(1, code.parity_shards());
  Loss loss;
  loss.data = std::min(random.between<std::size_t>(0, lost), code.data_shards());
  loss.parity = std::min(lost - std::min(lost, loss.data), code.parity_shards());
  if (loss.data + loss.parity == 0) loss.parity = 1;
  return loss;
}

// Small parity, less data than a chunk, chunks with and without a rest, the widest.
const std::vector<std::pair<std::size_t, std::size_t>> shapes = {
    {1, 1},   {1, 12},   {5, 2},    {10, 4},   {3, 8},   {8, 8},     {20, 5},   {20, 8},  {30, 7},
    {9, 16},  {16, 16},  {17, 9},   {40, 10},  {48, 12}, {100, 9},   {240, 16}, {20, 20}, {64, 32},
    {60, 30}, {223, 32}, {100, 64}, {192, 64}, {50, 60}, {128, 128}, {100, 100}};

TEST(LchTransform, EncodesWhereItIsLessWork) {
  int found = 0;
  for (const auto& [data, parity] : shapes) {
    const Code code = lch(data, parity);
    const Recipe recipe = plan::encode_recipe(code);
    ASSERT_TRUE(is_right(code, recipe, found));
    if (data >= 16 && parity >= 8) {
      EXPECT_TRUE(lch_transform(code, recipe)) << describe(code, recipe);
    }
    if (data == 1 && parity > 2) {
      EXPECT_FALSE(lch_transform(code, recipe)) << describe(code, recipe);
    }
  }
  EXPECT_GE(found, 15);
}

TEST(LchTransform, DecodesEveryKindOfLoss) {
  Random random(1);
  int only_data = 0, only_parity = 0, both = 0, some = 0;
  for (const auto& [data, parity] : shapes) {
    const Code code = lch(data, parity);
    const plan::DecodePlanner planner(code);
    const std::size_t half = std::min((parity + 1) / 2, data);
    for (int round = 0; round < 12; ++round) {
      const std::size_t few = random.between<std::size_t>(1, half);
      ASSERT_TRUE(is_right(code, decode(random, planner, {.data = few}), only_data));
      ASSERT_TRUE(is_right(code, decode(random, planner, {.parity = few}), only_parity));
      const Loss loss{.data = few, .parity = parity - few};
      ASSERT_TRUE(is_right(code, decode(random, planner, loss), both));
      ASSERT_TRUE(is_right(code, decode(random, planner, random_loss(random, code), false), some));
    }
  }
  EXPECT_GE(only_data, 50);
  EXPECT_GE(only_parity, 50);
  EXPECT_GE(both, 50);
  EXPECT_GE(some, 50);
}

// A part of encode is a transform with fewer inputs.
TEST(LchTransform, PartsOfPlans) {
  Random random(2);
  int of_encode = 0, of_decode = 0;
  for (const auto& [data, parity] : shapes) {
    const Code code = lch(data, parity);
    const plan::DecodePlanner planner(code);
    const Recipe encode = plan::encode_recipe(code);
    for (int round = 0; round < 12; ++round) {
      const auto held = choose(random, random.between<std::size_t>(1, data), 0, data);
      ASSERT_TRUE(is_right(code, *plan::partial_recipe(encode, held), of_encode));
      const Recipe whole = decode(random, planner, random_loss(random, code), random.coin());
      std::vector<ShardIndex> part;
      for (const ShardIndex read : whole.reads) {
        if (!random.one_in(8)) part.push_back(read);
      }
      ASSERT_TRUE(is_right(code, *plan::partial_recipe(whole, part), of_decode));
    }
  }
  EXPECT_GE(of_encode, 50);
  EXPECT_GE(of_decode, 5);
}

// Computes parity from other parity, as data is lost. Its share of the data reads only data and
// writes only parity, and is still not a part of encode.
TEST(LchTransform, DataAndParityAloneDoNotMakeEncode) {
  Random random(3);
  int deceived = 0;
  for (const auto& [data, parity] : shapes) {
    if (data < 2 || parity < 2) continue;
    const Code code = lch(data, parity);
    const plan::DecodePlanner planner(code);
    const std::size_t lost = std::min(data - 1, parity / 2);
    std::vector<ShardIndex> left;
    std::vector<ShardIndex> held;
    for (std::size_t i = lost; i < data + lost; ++i)
      left.push_back(static_cast<ShardIndex>(i));
    for (std::size_t i = lost; i < data; ++i)
      held.push_back(static_cast<ShardIndex>(i));
    const auto wanted = choose(random, parity - lost, data + lost, code.shards());
    const Recipe whole = *planner.plan(left, wanted, {});
    const Recipe share = *plan::partial_recipe(whole, held);
    EXPECT_FALSE(lch_transform(code, share)) << describe(code, share);
    ASSERT_TRUE(is_right(code, whole, deceived));
  }
  EXPECT_GE(deceived, 5);
}

TEST(LchTransform, UpdatesAreAMatrix) {
  const Code code = lch(64, 32);
  for (const std::size_t addends : {1U, 2U}) {
    EXPECT_FALSE(lch_transform(code, *plan::update_recipe(code, 5, {}, addends)));
  }
  Recipe none = plan::encode_recipe(code);
  none.reads.clear();
  none.coefficients = gf::Matrix(32, 0);
  EXPECT_FALSE(lch_transform(code, none));
}

// A part of a plan with one coefficient that differs from encode's is not a part of encode.
TEST(LchTransform, EveryCoefficientCounts) {
  Random random(4);
  const Code code = lch(64, 32);
  const auto held = choose(random, 63, 0, 64);
  const Recipe part = *plan::partial_recipe(plan::encode_recipe(code), held);
  EXPECT_TRUE(lch_transform(code, part));
  for (int round = 0; round < 50; ++round) {
    Recipe other = part;
    gf::Element& one = other.coefficients(random.below(32), random.below(63));
    one = static_cast<gf::Element>(one ^ random.between(1, 255));
    EXPECT_FALSE(lch_transform(code, other));
  }
}

TEST(LchTransform, OtherCodesHaveNone) {
  for (const CodeFamily family :
       {CodeFamily::cauchy, CodeFamily::hybrid, CodeFamily::vandermonde}) {
    const Code code = tests::code_of(family, 64, 32);
    EXPECT_FALSE(lch_transform(code, plan::encode_recipe(code)));
  }
  const Code same_rows = lch(64, 32);
  CodeSpec spec = same_rows.spec;
  spec.family = CodeFamily::custom;
  spec.matrix_hash = 0;
  const Code custom = *code::make_custom_code(spec, same_rows.parity.cells());
  EXPECT_FALSE(lch_transform(custom, plan::encode_recipe(custom)));
  // The default for wide parity is this code.
  const Code usual = tests::code_of(CodeFamily::default_code, 64, 32);
  EXPECT_TRUE(lch_transform(usual, plan::encode_recipe(usual)));
}

}  // namespace
}  // namespace calpe::engine
