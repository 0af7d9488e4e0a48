// SPDX-License-Identifier: Apache-2.0
// Plans of wide codes as transforms, and as the matrices of builds without these.
#include "engine/wide_transform.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "code/code.hpp"
#include "ir/verify.hpp"

namespace calpe::engine {
namespace {

code::Code make(std::size_t data, std::size_t parity) {
  CodeSpec spec;
  spec.data_shards = static_cast<std::uint32_t>(data);
  spec.parity_shards = static_cast<std::uint32_t>(parity);
  return *code::make_code(spec);
}

TEST(WideMatrix, EqualsTheTransform) {
  const code::Code code = make(290, 30);
  const plan::Recipe encode = plan::encode_recipe(code);
  std::vector<ShardIndex> reads(290);
  std::iota(reads.begin(), reads.end(), ShardIndex{30});
  std::vector<ShardIndex> writes(30);
  std::iota(writes.begin(), writes.end(), ShardIndex{0});
  const plan::Recipe decode = plan::wide_recipe(code, reads, writes);
  for (plan::Recipe recipe : {encode, decode}) {
    ASSERT_TRUE(recipe.is_transform);
    for (const bool is_listed : {true, false}) {
      if (!is_listed) recipe.coefficients = {};
      const Result<gf::Matrix> rows = wide_matrix(code, recipe);
      ASSERT_TRUE(rows) << rows.error().message;
      const Status same = ir::verify_map(ir::expand(wide_transform(code, recipe)), *rows);
      EXPECT_TRUE(same) << same.error().message;
    }
  }
}

TEST(WideMatrix, HasAMillionCoefficientsAtMost) {
  const code::Code code = make(10'000, 2'000);
  const Result<gf::Matrix> rows = wide_matrix(code, plan::encode_recipe(code));
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, ErrorCode::backend_unavailable);
  EXPECT_EQ(rows.error().message,
            "writing 2000 shards from 10000 takes 20000000 coefficients; expected at most 1048576, "
            "as this build leaves out additive-fft");
}

}  // namespace
}  // namespace calpe::engine
