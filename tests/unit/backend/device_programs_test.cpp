// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/device_programs.hpp"

#include <gtest/gtest.h>

#include "ir/linear_map.hpp"
#include "ir/verify.hpp"
#include "opt/within_registers.hpp"
#include "support/emitted_cases.hpp"

namespace calpe::backend::gpu {
namespace {

ir::Program direct_encoder(const code::Code& code) {
  return ir::lower_to_xor(ir::build(code.field, plan::encode_recipe(code).coefficients));
}

// Every row once, in order, and each group within its limit.
void check_groups(const std::vector<emit::RowGroup>& groups, const gf::BitMatrix& map,
                  std::uint32_t rows_per_output, std::size_t registers) {
  std::size_t row = 0;
  for (const emit::RowGroup& group : groups) {
    EXPECT_EQ(std::size_t{group.first_output} * rows_per_output, row);
    gf::BitMatrix expected(group.program.outputs(), map.columns());
    ASSERT_LE(row + expected.rows(), map.rows());
    for (std::size_t r = 0; r < expected.rows(); ++r, ++row)
      std::ranges::copy(map.row(row), expected.row(r).begin());
    EXPECT_TRUE(ir::verify_map(group.program, expected));
    EXPECT_LE(opt::words_held(group.program, rows_per_output), registers);
  }
  EXPECT_EQ(row, map.rows());
}

TEST(DevicePrograms, unit_groups_are_the_program) {
  for (const tests::CodeShape& shape :
       {tests::CodeShape{5, 2, 3}, tests::CodeShape{10, 4, 8}, tests::CodeShape{16, 16, 8}}) {
    const ir::Program direct = direct_encoder(tests::cauchy_code(shape));
    for (const std::size_t registers : {std::size_t{24}, std::size_t{64}, std::size_t{128}}) {
      const auto groups = unit_groups(direct, {.registers = registers});
      ASSERT_TRUE(groups);
      check_groups(*groups, ir::bit_map(direct), 1, registers);
    }
  }
}

TEST(DevicePrograms, plane_groups_are_the_matrix) {
  for (const tests::CodeShape& shape : {tests::CodeShape{3, 2, 8}, tests::CodeShape{10, 4, 8},
                                        tests::CodeShape{16, 16, 8}, tests::CodeShape{60, 9, 8}}) {
    const code::Code code = tests::cauchy_code(shape);
    const gf::Matrix rows = plan::encode_recipe(code).coefficients;
    for (const std::size_t registers : {std::size_t{32}, std::size_t{128}}) {
      const auto groups = plane_groups(code.field, rows, {.registers = registers});
      ASSERT_TRUE(groups);
      check_groups(*groups, plane_map(rows), 8, registers);
    }
  }
}

// A decoder's matrix is computed in two steps: the syndromes, then the lost shards.
TEST(DevicePrograms, decoder_groups_are_the_matrix) {
  const code::Code code = tests::cauchy_code({10, 4, 8});
  std::vector<ShardIndex> available;
  for (ShardIndex i = 4; i < 14; ++i)
    available.push_back(i);
  const auto recipe =
      plan::DecodePlanner(code).plan(available, std::vector<ShardIndex>{0, 1, 2, 3}, {});
  ASSERT_TRUE(recipe);
  const ir::Program direct = ir::lower_to_xor(ir::build(code.field, recipe->coefficients));
  const auto units = unit_groups(direct, {.registers = 64});
  ASSERT_TRUE(units);
  check_groups(*units, ir::bit_map(direct), 1, 64);
  const auto planes = plane_groups(code.field, recipe->coefficients, {.registers = 40});
  ASSERT_TRUE(planes);
  check_groups(*planes, plane_map(recipe->coefficients), 8, 40);
}

TEST(DevicePrograms, groups_can_be_joined) {
  const ir::Program direct = direct_encoder(tests::cauchy_code({10, 4, 8}));
  ASSERT_GT(unit_groups(direct, {.registers = 32})->size(), 1U);
  const auto joined = unit_groups(direct, {.registers = 32, .is_one_group = true});
  ASSERT_TRUE(joined);
  ASSERT_EQ(joined->size(), 1U);
  EXPECT_TRUE(ir::verify_map((*joined)[0].program, ir::bit_map(direct)));
}

TEST(DevicePrograms, a_program_that_shares_sums_and_fits_is_unchanged) {
  const ir::Program direct = direct_encoder(tests::cauchy_code({5, 2, 3}));
  const ir::Program shared = opt::greedy_sharing(direct, ir::bit_map(direct), {});
  EXPECT_EQ((*unit_groups(shared, {}))[0].program, shared);
  EXPECT_NE((*unit_groups(direct, {}))[0].program, direct);
  EXPECT_EQ((*unit_groups(direct, {.rounds = 0}))[0].program, direct);
}

TEST(DevicePrograms, one_output_at_a_time_if_nothing_fits) {
  const ir::Program direct = direct_encoder(tests::cauchy_code({10, 4, 8}));
  const auto groups = unit_groups(direct, {.registers = 4});
  ASSERT_TRUE(groups);
  EXPECT_EQ(groups->size(), 4U);
  check_groups(*groups, ir::bit_map(direct), 1, 200);
}

TEST(DevicePrograms, planes_are_bits_of_coefficients) {
  gf::Matrix rows(1, 2);
  rows(0, 0) = 0x81;
  rows(0, 1) = 2;
  const gf::BitMatrix map = plane_map(rows);
  EXPECT_EQ(map.rows(), 8U);
  EXPECT_EQ(map.ones(), 3U);
  EXPECT_TRUE(map.get(0, 0) && map.get(7, 0) && map.get(1, 1));
}

TEST(DevicePrograms, wrong_arguments_are_refused) {
  const code::Code code = tests::cauchy_code({3, 2, 8});
  const auto of_gf = unit_groups(ir::build(code.field, plan::encode_recipe(code).coefficients), {});
  ASSERT_FALSE(of_gf);
  EXPECT_EQ(of_gf.error().message, "program has the gf dialect; expected xor");
  const auto empty = plane_groups(code.field, gf::Matrix(0, 3), {});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().message, "matrix has 0 rows and 3 columns; expected at least 1 of each");
}

}  // namespace
}  // namespace calpe::backend::gpu
