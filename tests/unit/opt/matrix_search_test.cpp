// SPDX-License-Identifier: Apache-2.0
#include "opt/matrix_search.hpp"

#include <gtest/gtest.h>

#include "code/cauchy_form.hpp"
#include "conformance/random_program.hpp"
#include "ir/cost.hpp"
#include "ir/verify.hpp"
#include "opt/known_matrices.hpp"

namespace calpe::opt {
namespace {

using conformance::field_of;

constexpr std::string_view small_line =
    "2+2 w=4 polynomial=0x13 xors=8 budget=standard seed=1 rows=inf/1,3/1 columns=0/1,2/1";

TEST(CauchyPoints, give_the_matrix_or_name_what_breaks_the_proof) {
  const auto field = field_of(4);
  const CauchyPoints points{.row_points = {CauchyPoints::infinity, 3},
                            .column_points = {0, 2},
                            .row_scales = {1, 5},
                            .column_scales = {1, 7}};
  ASSERT_TRUE(check_points(*field, points));
  const gf::Matrix matrix = matrix_of(*field, points);
  EXPECT_EQ(matrix(0, 0), 1);
  EXPECT_EQ(matrix(0, 1), 7);
  EXPECT_EQ(field->multiply(matrix(1, 0), 3), 5);
  EXPECT_EQ(matrix(1, 1), field->multiply(5, 7));  // divided by 3 xor 2

  const auto verdict = [&](auto change) {
    CauchyPoints wrong = points;
    change(wrong);
    return check_points(*field, wrong).error().message;
  };
  EXPECT_EQ(verdict([](auto& p) { p.column_points[1] = 3; }), "column point 1 is taken: 3");
  EXPECT_EQ(verdict([](auto& p) { p.row_points[1] = p.infinity; }),
            "row point 1 is taken: infinity");
  EXPECT_EQ(verdict([](auto& p) { p.column_points[0] = p.infinity; }),
            "column point 0 is infinity; expected an element of the field");
  EXPECT_EQ(verdict([](auto& p) { p.row_points[1] = 16; }),
            "row point 1 is 16; expected at most 15");
  EXPECT_EQ(verdict([](auto& p) { p.row_scales[0] = 0; }), "row scale 0 is 0; expected 1..15");
  EXPECT_EQ(verdict([](auto& p) { p.column_scales[1] = 16; }),
            "column scale 1 is 16; expected 1..15");
  EXPECT_EQ(verdict([](auto& p) { p.row_scales.pop_back(); }),
            "there are 1 row and 2 column scales; expected 2 and 2");
}

TEST(FoundMatrix, text_and_back) {
  const auto found = parse_found(small_line);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->xors, 8U);
  EXPECT_EQ(found->points.row_points[0], CauchyPoints::infinity);
  EXPECT_EQ(print(*found), small_line);
}

TEST(FoundMatrix, wrong_text_is_refused) {
  const auto verdict = [](std::string from, std::string_view to) {
    std::string line(small_line);
    line.replace(line.find(from), from.size(), to);
    const auto found = parse_found(line);
    return found ? "" : found.error().message;
  };
  EXPECT_EQ(verdict("2+2", "3+2"), "found matrix is labelled 3+2, but has points for 2+2");
  EXPECT_EQ(verdict("w=4", "w=x"), "found matrix has w \"x\"; expected a number up to 16");
  EXPECT_EQ(verdict("w=4", "w="), "found matrix has w \"\"; expected a number up to 16");
  EXPECT_EQ(verdict("xors=8", "XORs=8"), "found matrix has \"XORs\"; expected \"xors=\"");
  EXPECT_EQ(verdict("standard", "long"),
            "found matrix has budget \"long\"; expected fast, standard or thorough");
  EXPECT_EQ(verdict("3/1", "2/1"), "column point 1 is taken: 2");
  EXPECT_EQ(verdict("3/1", "3"), "found matrix has rows \"\"; expected a number up to 65535");
  EXPECT_EQ(verdict("columns=0/1,2/1", ""), "found matrix has \"\"; expected \"columns=\"");
  EXPECT_NE(verdict("0x13", "0x12"), "");
  EXPECT_NE(verdict(small_line.data(), ""), "");
}

TEST(MatrixSearch, comes_near_the_optimum_at_once) {
  for (const bool has_ones_row : {true, false}) {
    const MatrixSpec spec{
        .field = field_of(4), .data = 4, .parity = 2, .has_ones_row = has_ones_row};
    const auto best = search_matrix(spec, Budget::fast, 1);
    ASSERT_TRUE(best) << best.error().message;
    EXPECT_LE(best->found.xors, 25U);  // 2w(k-1) = 24, fewer is impossible
    EXPECT_EQ(ir::cost(best->program).xors, best->found.xors);
    EXPECT_TRUE(check_points(*spec.field, best->found.points));
    EXPECT_TRUE(ir::verify_map(best->program, best->found.matrix()));
    EXPECT_EQ(print(search_matrix(spec, Budget::fast, 1)->found), print(best->found));
  }
}

TEST(MatrixSearch, fast_finds_fewer_than_the_published_10_4) {
  const auto best = search_matrix({.field = field_of(8), .data = 10, .parity = 4}, Budget::fast, 1);
  ASSERT_TRUE(best) << best.error().message;
  EXPECT_LT(best->found.xors, 385U);
  EXPECT_TRUE(ir::verify_map(best->program, best->found.matrix()));
  const gf::Matrix matrix = best->found.matrix();
  for (const gf::Element cell : matrix.row(0))
    EXPECT_EQ(cell, 1);
}

// A change of the search changes these lines; its results should not get worse.
TEST(MatrixSearch, finds_the_same_on_every_machine) {
  const auto line = [](std::uint32_t data, std::uint32_t parity, bool has_ones_row) {
    const MatrixSpec spec{
        .field = field_of(4), .data = data, .parity = parity, .has_ones_row = has_ones_row};
    return print(search_matrix(spec, Budget::fast, 1)->found);
  };
  EXPECT_EQ(line(4, 2, true),
            "4+2 w=4 polynomial=0x13 xors=24 budget=fast seed=1 rows=inf/1,3/12 "
            "columns=6/1,0/1,14/1,15/1");
  EXPECT_EQ(line(6, 3, false),
            "6+3 w=4 polynomial=0x13 xors=56 budget=fast seed=1 rows=9/10,12/8,0/9 "
            "columns=5/14,3/5,11/11,7/3,4/8,6/12");
}

TEST(MatrixSearch, every_element_may_be_a_point) {
  const auto field = field_of(2);
  EXPECT_TRUE(search_matrix({.field = field, .data = 3, .parity = 2}, Budget::fast, 1));
  EXPECT_EQ(
      search_matrix({.field = field, .data = 4, .parity = 2}, Budget::fast, 1).error().message,
      "matrix search: size is 4+2 over GF(2^2); expected 1+1 up to 4 elements");
  EXPECT_FALSE(search_matrix({.field = field, .data = 0, .parity = 2}, Budget::fast, 1));
}

// tests/exhaustive/xor_counts_test.cpp checks the counts.
TEST(KnownMatrices, are_proven_by_their_points) {
  EXPECT_GE(known_matrix_lines().size(), 15U);
  for (const std::string_view line : known_matrix_lines()) {
    const auto found = parse_found(line);  // checks the points
    ASSERT_TRUE(found) << line << ": " << found.error().message;
    EXPECT_EQ(print(*found), line);
    const auto known = known_matrix(*found->field, static_cast<std::uint32_t>(found->data()),
                                    static_cast<std::uint32_t>(found->parity()));
    ASSERT_TRUE(known);
    EXPECT_EQ(print(*known), line);
    // Recognised from the entries alone, without the points.
    if (found->data() + found->parity() <= found->field->size()) {
      EXPECT_TRUE(code::recognise_cauchy(*found->field, found->matrix())) << line;
    }
  }
  EXPECT_FALSE(known_matrix(*field_of(8, 0x11B), 10, 4));
  EXPECT_FALSE(known_matrix(*field_of(8), 10, 5));
}

}  // namespace
}  // namespace calpe::opt
