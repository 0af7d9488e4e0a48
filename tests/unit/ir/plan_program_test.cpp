// SPDX-License-Identifier: Apache-2.0
#include "ir/plan_program.hpp"

#include <gtest/gtest.h>

#include "ir/linear_map.hpp"
#include "ir/text_form.hpp"

namespace calpe::ir {
namespace {

Codec small_codec() {
  return *Codec::create({.family = CodeFamily::cauchy,
                         .layout = Layout::packets,
                         .data_shards = 2,
                         .parity_shards = 2,
                         .word_bits = 2},
                        {.backend = "reference"});
}

// Over GF(4), x^2+x+1: the rows are (1/2, 1/3) = (3, 2) and (2, 3).
TEST(PlanProgram, IsTheMatrixInBits) {
  const Codec codec = small_codec();
  const auto program = xor_program(codec.plan_encode(), codec.spec());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(print(*program),
            "u4 = XOR(u0,u1,u3)\nu5 = XOR(u0,u2,u3)\nu6 = XOR(u1,u2,u3)\nu7 = XOR(u0,u1,u2)\n");
}

TEST(PlanProgram, OfALossReadsTheSurvivors) {
  const Codec codec = small_codec();
  const ShardIndex left[] = {1, 2};
  const ShardIndex lost[] = {0};
  const auto plan = codec.plan_decode(left, lost);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto program = xor_program(*plan, codec.spec());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->inputs(), 4U);
  EXPECT_EQ(program->outputs(), 2U);
}

TEST(DirectProgram, SharesNothingAndComputesTheSame) {
  const auto shared =
      parse("t0 = XOR(u0,u1)\nu3 = XOR(t0,u2)\nu4 = XOR(t0,t0,u2)\n", {.inputs = 3, .outputs = 2});
  ASSERT_TRUE(shared) << shared.error().message;
  const Program direct = direct_program(*shared);
  EXPECT_EQ(print(direct), "u3 = XOR(u0,u1,u2)\nu4 = XOR(u2)\n");
  EXPECT_TRUE(bit_map(direct) == bit_map(*shared));
}

}  // namespace
}  // namespace calpe::ir
