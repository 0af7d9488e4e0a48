// SPDX-License-Identifier: Apache-2.0
// A plan of `vandermonde` that becomes a transform equals it, coefficient by coefficient.
#include "engine/vandermonde_transform.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "plan/decode_planner.hpp"
#include "support/recipe_transform.hpp"

namespace calpe::engine {
namespace {

code::Code vandermonde(std::size_t data, std::size_t parity) {
  return tests::code_of(CodeFamily::vandermonde, data, parity);
}

testing::AssertionResult is_right(const code::Code& code, const plan::Recipe& recipe, int& found) {
  const auto made = vandermonde_transform(code, recipe);
  if (!made) return testing::AssertionSuccess();
  ++found;
  return tests::computes(made->transform, code, recipe);
}

TEST(VandermondeTransform, EncodesEveryNumberOfDataShards) {
  int found = 0;
  for (std::size_t data = 5; data <= 128; ++data) {
    for (const std::size_t parity : {std::size_t{24}, data}) {
      if (data % 5 != 0 && data > 40 && parity == data) continue;  // the slowest of the tests
      const code::Code code = vandermonde(data, parity);
      ASSERT_TRUE(is_right(code, plan::encode_recipe(code), found));
    }
  }
  EXPECT_GE(found, 100);
}

// A power of two of data shards, rebuilt from an aligned block of parity; or only some parity
// written, in another order.
TEST(VandermondeTransform, DecodesFromAnAlignedBlock) {
  int found = 0;
  for (const std::size_t size : {8U, 16U, 32U, 64U, 128U}) {
    const code::Code code = vandermonde(size, size);
    const plan::DecodePlanner planner(code);
    std::vector<ShardIndex> data, parity;
    for (std::size_t i = 0; i < size; ++i) {
      data.push_back(static_cast<ShardIndex>(i));
      parity.push_back(static_cast<ShardIndex>(2 * size - 1 - i));
    }
    ASSERT_TRUE(is_right(code, *planner.plan(parity, data, {}), found));
    ASSERT_TRUE(is_right(code, *planner.plan(data, parity, {}), found));
  }
  EXPECT_GE(found, 8);
}

// One pass in registers is worth it for fewer parity shards than cells in memory are.
TEST(VandermondeTransform, EncodesFewShardsInOnePass) {
  for (const std::size_t data : {8U, 16U}) {
    const code::Code code = vandermonde(data, 8);
    int found = 0;
    ASSERT_TRUE(is_right(code, plan::encode_recipe(code), found));
    EXPECT_EQ(found, 1) << data;
    const code::Code fewer = vandermonde(data, 6);
    EXPECT_FALSE(vandermonde_transform(fewer, plan::encode_recipe(fewer))) << data;
    const code::Code uneven = vandermonde(data - 1, 8);
    EXPECT_FALSE(vandermonde_transform(uneven, plan::encode_recipe(uneven))) << data;
  }
}

// The same with four or eight data shards more than sixteen, up to 32 shards.
TEST(VandermondeTransform, EncodesATailInOnePass) {
  const auto is_found = [](std::size_t data, std::size_t parity) {
    const code::Code code = vandermonde(data, parity);
    int found = 0;
    EXPECT_TRUE(is_right(code, plan::encode_recipe(code), found));
    return found == 1;
  };
  for (const std::size_t parity : {7U, 10U, 12U})
    EXPECT_TRUE(is_found(20, parity)) << parity;
  for (const std::size_t parity : {6U, 8U})
    EXPECT_TRUE(is_found(24, parity)) << parity;
  EXPECT_FALSE(is_found(20, 6));
  EXPECT_FALSE(is_found(24, 5));
  EXPECT_FALSE(is_found(19, 10));
  EXPECT_FALSE(is_found(21, 10));
}

// Interpolating many values for few outputs costs more than their rows.
TEST(VandermondeTransform, FewOutputsOfAnUnevenNumberAreRows) {
  const code::Code many = vandermonde(120, 20);
  EXPECT_FALSE(vandermonde_transform(many, plan::encode_recipe(many)));
  const code::Code few = vandermonde(40, 20);
  EXPECT_TRUE(vandermonde_transform(few, plan::encode_recipe(few)));
}

TEST(VandermondeTransform, OthersAreAMatrix) {
  const code::Code code = vandermonde(32, 32);
  const plan::DecodePlanner planner(code);
  std::vector<ShardIndex> left, lost;
  for (std::size_t i = 0; i < 64; ++i)
    (i % 2 == 0 ? left : lost).push_back(static_cast<ShardIndex>(i));
  EXPECT_FALSE(vandermonde_transform(code, *planner.plan(left, lost, {})));
  EXPECT_FALSE(vandermonde_transform(code, *plan::update_recipe(code, 3, {})));
  const code::Code few = vandermonde(10, 4);
  EXPECT_FALSE(vandermonde_transform(few, plan::encode_recipe(few)));
  const code::Code many = vandermonde(200, 50);
  EXPECT_FALSE(vandermonde_transform(many, plan::encode_recipe(many)));
  const code::Code other = tests::code_of(CodeFamily::cauchy, 32, 32);
  EXPECT_FALSE(vandermonde_transform(other, plan::encode_recipe(other)));
}

}  // namespace
}  // namespace calpe::engine
