// SPDX-License-Identifier: Apache-2.0
// Encode of `cauchy` and `hybrid` that becomes a transform equals its plan, coefficient by
// coefficient.
#include "engine/cauchy_transform.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "plan/decode_planner.hpp"
#include "support/recipe_transform.hpp"

namespace calpe::engine {
namespace {

testing::AssertionResult is_right(const code::Code& code, const plan::Recipe& recipe, int& found) {
  const auto made = cauchy_transform(code, recipe);
  if (!made) return testing::AssertionSuccess();
  ++found;
  return tests::computes(made->transform, code, recipe);
}

// Shapes that `lch` does not have.
TEST(CauchyTransform, EncodesWhereLchDoesNotFit) {
  for (const CodeFamily family : {CodeFamily::cauchy, CodeFamily::hybrid}) {
    int found = 0;
    int shapes = 0;
    for (const std::size_t size : {32U, 64U, 128U}) {
      for (std::size_t parity = size / 2 + 3; parity < size; parity += size / 4) {
        const std::size_t more = size - parity;
        for (const std::size_t data : {257 - size, 256 - size + more / 2, 256 - parity}) {
          const code::Code code = tests::code_of(family, data, parity);
          ASSERT_TRUE(is_right(code, plan::encode_recipe(code), found));
          ++shapes;
        }
      }
    }
    EXPECT_EQ(found, shapes);
  }
}

TEST(CauchyTransform, EncodesOtherShapesAndFields) {
  int found = 0;
  for (const std::size_t data : {24U, 50U, 64U, 100U, 128U, 190U}) {
    for (const std::size_t parity : {9U, 14U, 28U, 60U, 66U}) {
      const code::Code code = tests::code_of(CodeFamily::cauchy, data, parity);
      ASSERT_TRUE(is_right(code, plan::encode_recipe(code), found));
    }
  }
  EXPECT_GE(found, 8);
  CodeSpec spec{.family = CodeFamily::hybrid, .data_shards = 200, .parity_shards = 56};
  spec.polynomial = 0x11B;
  const code::Code code = *code::make_code(spec);
  found = 0;
  ASSERT_TRUE(is_right(code, plan::encode_recipe(code), found));
  EXPECT_EQ(found, 1);
}

// Some parity in any order, and the share of some data.
TEST(CauchyTransform, EncodesPartsOfAPlan) {
  const code::Code code = tests::code_of(CodeFamily::hybrid, 200, 56);
  const plan::DecodePlanner planner(code);
  std::vector<ShardIndex> data(200);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<ShardIndex>(i);
  int found = 0;
  std::vector<ShardIndex> parity;
  for (std::size_t i = 256; i-- > 200;) {
    if (i % 3 != 0) parity.push_back(static_cast<ShardIndex>(i));
  }
  const plan::Recipe some = *planner.plan(data, parity, {});
  ASSERT_TRUE(is_right(code, some, found));
  const plan::Recipe whole = plan::encode_recipe(code);
  std::vector<ShardIndex> held;
  for (const ShardIndex shard : data) {
    if (shard % 4 != 1) held.push_back(shard);
  }
  ASSERT_TRUE(is_right(code, *plan::partial_recipe(whole, held), found));
  ASSERT_TRUE(is_right(
      code, *plan::partial_recipe(whole, std::vector(data.begin(), data.begin() + 190)), found));
  EXPECT_EQ(found, 3);
}

TEST(CauchyTransform, OthersAreAMatrix) {
  const code::Code code = tests::code_of(CodeFamily::hybrid, 200, 56);
  const plan::DecodePlanner planner(code);
  std::vector<ShardIndex> left, lost;
  for (std::size_t i = 0; i < 256; ++i)
    (i < 40 ? lost : left).push_back(static_cast<ShardIndex>(i));
  EXPECT_FALSE(cauchy_transform(code, *planner.plan(left, lost, {})));
  EXPECT_FALSE(cauchy_transform(code, *plan::update_recipe(code, 3, {})));
  EXPECT_FALSE(cauchy_transform(code, *plan::partial_recipe(plan::encode_recipe(code), {})));
  for (const auto& [data, parity] : {std::pair{10U, 4U}, {10, 9}, {249, 7}, {245, 9}, {100, 80}}) {
    const code::Code few = tests::code_of(CodeFamily::hybrid, data, parity);
    EXPECT_FALSE(cauchy_transform(few, plan::encode_recipe(few))) << data << "+" << parity;
  }
  const code::Code other = tests::code_of(CodeFamily::vandermonde, 200, 56);
  EXPECT_FALSE(cauchy_transform(other, plan::encode_recipe(other)));
}

}  // namespace
}  // namespace calpe::engine
