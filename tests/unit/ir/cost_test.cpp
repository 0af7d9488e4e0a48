// SPDX-License-Identifier: Apache-2.0
#include "ir/cost.hpp"

#include <gtest/gtest.h>

#include "conformance/random_program.hpp"
#include "ir/lower_to_xor.hpp"
#include "unit/ir/equations.hpp"

namespace calpe::ir {
namespace {

TEST(Cost, listing_1_takes_45_xors_as_its_paper_says) {
  const Cost expected = {.multiplications = 0,
                         .xors = 45,
                         .xors3 = 4 + 4 + 4 + 4 + 4 + 4,  // of 8, 9, 8, 9, 9, 8 terms
                         .loads = 51,
                         .stores = 6,
                         .live_values = 1};
  EXPECT_EQ(cost(program_of(listing_1)), expected);
}

TEST(Cost, listing_2_takes_33_xors_as_its_paper_says) {
  // After t9 the values t0 t1 t3 t4 t6 t7 t8 t9 are still to be read; with u15 there are nine.
  const Cost expected = {.multiplications = 0,
                         .xors = 33,
                         .xors3 = 10 + 1 + 1 + 2 + 3 + 3 + 3,
                         .loads = 49,
                         .stores = 16,
                         .live_values = 9};
  EXPECT_EQ(cost(program_of(listing_2)), expected);
}

TEST(Cost, counts_coefficients_other_than_one) {
  gf::Matrix matrix(2, 3);
  matrix(0, 0) = matrix(0, 1) = matrix(0, 2) = 1;
  matrix(1, 0) = 1;
  matrix(1, 2) = 4;
  const Cost expected = {
      .multiplications = 1, .xors = 3, .xors3 = 2, .loads = 5, .stores = 2, .live_values = 1};
  EXPECT_EQ(cost(build(conformance::field_of(8), matrix)), expected);
}

TEST(Cost, the_target_replaces_a_dying_value) {
  Program chain(conformance::field_of(8), {.inputs = 1, .outputs = 1});
  const Value first = chain.new_temporary();
  const Value second = chain.new_temporary();
  chain.append(first, std::vector<Term>{{.value = 0}});
  chain.append(second, std::vector<Term>{{.value = first}, {.value = first}});  // named twice
  chain.append(1, std::vector<Term>{{.value = second}});
  EXPECT_EQ(cost(chain).live_values, 1U);
}

TEST(Cost, nothing_costs_nothing) {
  EXPECT_EQ(cost(build(conformance::field_of(8), gf::Matrix(0, 0))), Cost{});
  const Cost zero_row = {.stores = 1, .live_values = 1};
  EXPECT_EQ(cost(build(conformance::field_of(8), gf::Matrix(1, 4))), zero_row);
}

}  // namespace
}  // namespace calpe::ir
