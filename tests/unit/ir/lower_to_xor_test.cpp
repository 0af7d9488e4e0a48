// SPDX-License-Identifier: Apache-2.0
#include "ir/lower_to_xor.hpp"

#include <gtest/gtest.h>

#include "conformance/random_program.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::ir {
namespace {

using conformance::field_of;

TEST(LowerToXor, cauchy_5_2_gives_listing_1_exactly) {
  const auto field = field_of(3, 0xB);
  const Program lowered = lower_to_xor(build(field, cauchy_5_2(*field)));
  EXPECT_EQ(print(lowered), listing_1);
  EXPECT_EQ(lowered, program_of(listing_1));
  EXPECT_EQ(lowered.unit_count(), 3U);
}

TEST(LowerToXor, example_of_the_header) {
  gf::Matrix three(1, 1);
  three(0, 0) = 3;
  EXPECT_EQ(print(lower_to_xor(build(field_of(3, 0xB), three))),
            "u3 = XOR(u0,u2)\nu4 = XOR(u0,u1,u2)\nu5 = XOR(u1,u2)\n");
}

TEST(LowerToXor, temporaries_keep_their_order) {
  Program program(field_of(2), {.inputs = 2, .outputs = 1});
  const Value later = program.new_temporary();
  const Value sooner = program.new_temporary();
  program.append(sooner, std::vector<Term>{{.value = 1}, {.value = 0}});
  program.append(later, std::vector<Term>{{.value = sooner, .coefficient = 2}});
  program.append(2, std::vector<Term>{{.value = 0}, {.value = later}});
  // Times 2 over x^2+x+1: bit 0 = old bit 1, bit 1 = old bits 0 and 1.
  EXPECT_EQ(print(lower_to_xor(program)),
            "t2 = XOR(u0,u2)\nt3 = XOR(u1,u3)\n"
            "t0 = XOR(t3)\nt1 = XOR(t2,t3)\n"
            "u4 = XOR(u0,t0)\nu5 = XOR(u1,t1)\n");
}

TEST(LowerToXor, terms_that_appear_twice_cancel) {
  Program program(field_of(2), {.inputs = 3, .outputs = 2});
  program.append(3, std::vector<Term>{{.value = 1, .coefficient = 3},
                                      {.value = 2},
                                      {.value = 0},
                                      {.value = 1, .coefficient = 3},
                                      {.value = 0, .coefficient = 3}});  // 2*v0 + v2
  program.append(4, std::vector<Term>{{.value = 2}, {.value = 2}});
  EXPECT_EQ(print(lower_to_xor(program)),
            "u6 = XOR(u1,u4)\nu7 = XOR(u0,u1,u5)\nu8 = XOR()\nu9 = XOR()\n");
}

TEST(LowerToXor, keeps_the_map_of_random_programs) {
  auto random = conformance::Random::of_test("LowerToXor");
  SCOPED_TRACE(conformance::repeat_with());
  for (int round = 0; round < 300; ++round) {
    const auto field = field_of(random.between(gf::word_bits_min, gf::word_bits_max));
    const Program program = conformance::random_program(random, field,
                                                        {.input_shards = random.between(1U, 20U),
                                                         .output_shards = random.between(1U, 6U),
                                                         .temporaries = random.between(0U, 20U)});
    const Program lowered = lower_to_xor(program);
    ASSERT_EQ(lowered.temporaries(), program.temporaries() * field->word_bits());
    const Status same = verify_map(lowered, linear_map(program));
    ASSERT_TRUE(same) << same.error().message;
  }
}

}  // namespace
}  // namespace calpe::ir
