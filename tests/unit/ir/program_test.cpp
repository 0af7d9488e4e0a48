// SPDX-License-Identifier: Apache-2.0
#include "ir/program.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "conformance/random_program.hpp"

namespace calpe::ir {
namespace {

using conformance::field_of;

// output 0 = 1*in0 + 0*in1 + 7*in2; output 1 = 0; output 2 = 5*in1
gf::Matrix small_matrix() {
  gf::Matrix matrix(3, 3);
  matrix(0, 0) = 1;
  matrix(0, 2) = 7;
  matrix(2, 1) = 5;
  return matrix;
}

TEST(Program, build_leaves_zeros_out_and_keeps_zero_rows) {
  const Program program = build(field_of(8), small_matrix());
  EXPECT_EQ(program.inputs(), 3U);
  EXPECT_EQ(program.outputs(), 3U);
  EXPECT_EQ(program.temporaries(), 0U);
  EXPECT_EQ(program.unit_count(), 1U);
  ASSERT_EQ(program.instructions().size(), 3U);

  const auto terms = [&program](std::size_t i) {
    const auto span = program.terms(program.instructions()[i]);
    return std::vector<Term>(span.begin(), span.end());
  };
  EXPECT_EQ(program.instructions()[0].target, 3U);
  EXPECT_EQ(terms(0),
            (std::vector<Term>{{.value = 0, .coefficient = 1}, {.value = 2, .coefficient = 7}}));
  EXPECT_EQ(program.instructions()[1].target, 4U);
  EXPECT_TRUE(terms(1).empty());
  EXPECT_EQ(program.instructions()[2].target, 5U);
  EXPECT_EQ(terms(2), (std::vector<Term>{{.value = 1, .coefficient = 5}}));
}

TEST(Program, build_equals_append) {
  Program appended(field_of(8), {.inputs = 3, .outputs = 3});
  appended.append(
      3, std::vector<Term>{{.value = 0, .coefficient = 1}, {.value = 2, .coefficient = 7}});
  appended.append(4, {});
  appended.append(5, std::vector<Term>{{.value = 1, .coefficient = 5}});
  EXPECT_EQ(build(field_of(8), small_matrix()), appended);
  EXPECT_FALSE(build(field_of(8, 0x11B), small_matrix()) == appended);  // another field
}

TEST(Program, build_takes_empty_matrices) {
  const Program none = build(field_of(8), gf::Matrix(0, 0));
  EXPECT_EQ(none.values(), 0U);
  const Program zero = build(field_of(8), gf::Matrix(2, 0));
  EXPECT_EQ(zero.outputs(), 2U);
  EXPECT_EQ(zero.instructions().size(), 2U);
}

TEST(Program, numbers_inputs_outputs_temporaries) {
  Program program(field_of(3),
                  {.dialect = Dialect::xor_, .inputs = 15, .outputs = 6, .unit_count = 3});
  EXPECT_EQ(program.output(0), 15U);
  EXPECT_EQ(program.new_temporary(), 21U);
  EXPECT_EQ(program.new_temporary(), 22U);
  EXPECT_EQ(program.values(), 23U);
  EXPECT_TRUE(program.is_input(14));
  EXPECT_FALSE(program.is_output(14));
  EXPECT_TRUE(program.is_output(20));
  EXPECT_FALSE(program.is_output(21));
  EXPECT_EQ(program.input_shards(), 5U);
  EXPECT_EQ(program.output_shards(), 2U);
}

TEST(ProgramDeathTest, append_asserts_its_arguments) {
  Program gf4(field_of(4), {.inputs = 2, .outputs = 1});
  const auto append = [&gf4](Value target, Term term) { gf4.append(target, std::span(&term, 1)); };
  EXPECT_DEATH(append(1, {.value = 0}), "target");      // an input
  EXPECT_DEATH(append(3, {.value = 0}), "target");      // no such value
  EXPECT_DEATH(append(2, {.value = 3}), "wrong == 0");  // no such value
  EXPECT_DEATH(append(2, {.value = 0, .coefficient = 0}), "wrong == 0");
  EXPECT_DEATH(append(2, {.value = 0, .coefficient = 16}), "wrong == 0");
  append(2, {.value = 0, .coefficient = 15});

  Program bits(field_of(4), {.dialect = Dialect::xor_, .inputs = 4, .outputs = 4, .unit_count = 4});
  const Term twice = {.value = 0, .coefficient = 2};
  EXPECT_DEATH(bits.append(4, std::span(&twice, 1)), "wrong == 0");
}

TEST(ProgramDeathTest, shape_and_matrix_are_asserted) {
  EXPECT_DEATH(
      Program(field_of(4), {.dialect = Dialect::xor_, .inputs = 6, .outputs = 4, .unit_count = 4}),
      "inputs");
  EXPECT_DEATH(Program(field_of(4), {.inputs = 4, .outputs = 4, .unit_count = 4}), "unit_count");
  EXPECT_DEATH(build(field_of(2), small_matrix()), "size");  // 7 is not an element of GF(4)
}

}  // namespace
}  // namespace calpe::ir
