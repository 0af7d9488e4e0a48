// SPDX-License-Identifier: Apache-2.0
#include "ir/text_form.hpp"

#include <gtest/gtest.h>
#include <string>

#include "conformance/random_program.hpp"
#include "ir/cost.hpp"
#include "ir/lower_to_xor.hpp"
#include "ir/verify.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::ir {
namespace {

constexpr TextShape shape_5_2 = {.inputs = 15, .outputs = 6, .unit_count = 3};

std::string error_of(std::string_view text, const TextShape& shape = {}) {
  const auto program = parse(text, shape);
  return program ? std::string("no error") : program.error().message;
}

TEST(TextForm, prints_listing_1_of_the_cauchy_code) {
  const auto field = conformance::field_of(3, 0xB);
  const Program program = lower_to_xor(build(field, cauchy_5_2(*field)));
  EXPECT_EQ(print(program), listing_1);
  EXPECT_EQ(cost(program).xors, 45U);
}

TEST(TextForm, parses_listing_2_as_printed_in_the_paper) {
  const auto program = parse(listing_2_as_printed, shape_5_2);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_TRUE(verify_map(*program, cauchy_5_2(program->field())));
  EXPECT_EQ(cost(*program).xors, 33U);
  EXPECT_EQ(cost(*program).live_values, 7U);  // fewer than the 9 with temporaries first
}

TEST(TextForm, keeps_an_order_that_is_sound) {
  EXPECT_EQ(print(*parse(listing_2, shape_5_2)), listing_2);
}

TEST(TextForm, reads_back_what_it_prints) {
  conformance::Random random = conformance::Random::of_test("reads_back_what_it_prints");
  for (int round = 0; round < 200; ++round) {
    const unsigned w = random.between(2U, 8U);
    const Program program = conformance::random_program(random, conformance::field_of(w),
                                                        {.dialect = Dialect::xor_,
                                                         .input_shards = random.between(1U, 9U),
                                                         .output_shards = random.between(1U, 4U),
                                                         .temporaries = random.between(0U, 30U)});
    const auto again = parse(print(program), {.inputs = program.inputs(),
                                              .outputs = program.outputs(),
                                              .unit_count = program.unit_count()});
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(*again, program);
  }
}

TEST(TextForm, finds_the_shape_and_accepts_free_spelling) {
  const auto program = parse("# k=3, m=1\n\n u3=XOR( u0 , t7 )  // parity\r\nt7 =XOR(u1,u2)", {});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->inputs(), 3U);
  EXPECT_EQ(program->outputs(), 1U);
  EXPECT_EQ(print(*program), "t0 = XOR(u1,u2)\nu3 = XOR(u0,t0)\n");
  EXPECT_EQ(print(*parse("u1 = XOR()", {})), "u1 = XOR()\n");
}

TEST(TextForm, accepts_more_units_than_symbols_have_bits) {
  std::string text;
  for (int i = 0; i < 9; ++i)
    text += "u" + std::to_string(9 + i) + " = XOR(u" + std::to_string(i) + ")\n";
  const auto program = parse(text, {.unit_count = 9});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(print(*program), text);
}

TEST(TextForm, names_what_is_wrong_and_where) {
  EXPECT_EQ(error_of("u3 = AND(u1)"), "line 1: got \"AND(u1)\"; expected \"XOR\"");
  EXPECT_EQ(error_of("\nu3 = XOR(u1,)"), "line 2: got \")\"; expected a unit u0 or temporary t0");
  EXPECT_EQ(error_of("u3 = XOR(u)"), "line 1: got \"u)\"; expected a number after the letter");
  EXPECT_EQ(error_of("u3 = XOR(u1) u2"), "line 1: got \"u2\"; expected the end of the line");
  EXPECT_EQ(error_of("u99999999 = XOR(u1)"),
            "line 1: got \"u99999999 = XOR(u1)\"; expected a number of at most 16777216");
  EXPECT_EQ(error_of("u3 = XOR(u1)\nu3 = XOR(u2)"), "line 2 defines u3, already defined in line 1");
  EXPECT_EQ(error_of("u3 = XOR(t0)"), "line 1 reads t0, which is not defined; inputs are u0..u2");
  EXPECT_EQ(error_of("u3 = XOR(t0)\nt0 = XOR(t1)\nt1 = XOR(t0)"),
            "line 3: t1 depends on itself through t0 in line 2");
  EXPECT_EQ(error_of("u3 = XOR(u3)"), "line 1: u3 depends on itself through u3 in line 1");
  EXPECT_EQ(error_of("u3 = XOR(u1)\nu5 = XOR(u1)"), "u4 is an output but is not defined");
  EXPECT_EQ(error_of("u3 = XOR(u1)", {.inputs = 4}),
            "line 1 defines u3; expected u4..u3 or a temporary");
  EXPECT_EQ(error_of("u3 = XOR(u1)", {.unit_count = 2}),
            "there are 3 inputs and 1 outputs; expected multiples of the 2 units of a shard");
  EXPECT_EQ(error_of("u2 = XOR(u1)", {.unit_count = 2}),
            "there are 2 inputs and 1 outputs; expected multiples of the 2 units of a shard");
  EXPECT_EQ(error_of("u1 = XOR(u0)", {.unit_count = 0}), "unit_count is 0; expected at least 1");
  EXPECT_EQ(error_of("t0 = XOR(u1)"), "no equation defines a unit u0, u1, ...");
  EXPECT_EQ(error_of(""), "no equation defines a unit u0, u1, ...");
}

// Random bytes and damaged listings give an error or a sound program, never a crash.
TEST(TextForm, survives_damaged_text) {
  conformance::Random random = conformance::Random::of_test("survives_damaged_text");
  for (int round = 0; round < 3000; ++round) {
    std::string text(listing_2);
    for (unsigned damage = random.between(1U, 4U); damage > 0; --damage) {
      const auto at = random.below(text.size());
      text[at] =
          random.coin() ? text[random.below(text.size())] : "ut=XOR(),0129 \n"[random.below(15)];
    }
    const auto program = parse(text, random.coin() ? shape_5_2 : TextShape{});
    ASSERT_TRUE(!program || verify(*program)) << text;
  }
}

}  // namespace
}  // namespace calpe::ir
