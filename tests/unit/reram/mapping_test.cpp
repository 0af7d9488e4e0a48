// SPDX-License-Identifier: Apache-2.0
#include "reram/mapping.hpp"

#include <gtest/gtest.h>

namespace calpe::reram {
namespace {

Parameters chip(double rows = 512) {
  Parameters parameters;
  parameters.rows.value = rows;
  return parameters;
}

Result<Mapping> map_size(std::size_t inputs, std::size_t outputs, const Parameters& parameters,
                         const MappingOptions& options = {}) {
  return map_matrix(gf::BitMatrix(outputs, inputs), parameters, options);
}

TEST(Mapping, a_matrix_that_fits_takes_one_crossbar) {
  const Result<Mapping> mapping = map_size(512, 512, chip());
  ASSERT_TRUE(mapping);
  ASSERT_EQ(mapping->tiles.size(), 1);
  EXPECT_EQ(mapping->tiles[0], (Tile{0, 512, 0, 512, 0}));
  EXPECT_EQ(mapping->groups, 32);
  EXPECT_FALSE(mapping->is_combined());
}

// Tiles cover every input and output once, in order, within the crossbar.
void expect_cover(const Mapping& mapping, std::size_t rows, std::size_t columns) {
  const Grid grid = mapping.options.grid;
  ASSERT_EQ(mapping.tiles.size(), grid.rows * grid.columns);
  std::size_t next_input = 0;
  for (std::size_t r = 0; r < grid.rows; ++r) {
    std::size_t next_output = 0;
    for (std::size_t c = 0; c < grid.columns; ++c) {
      const Tile& tile = mapping.tiles[r * grid.columns + c];
      EXPECT_EQ(tile.first_input, next_input);
      EXPECT_EQ(tile.input_count, mapping.tiles[r * grid.columns].input_count);
      EXPECT_EQ(tile.first_output, next_output);
      EXPECT_EQ(tile.first_row, mapping.options.combine == Combine::rewrite && r > 0 ? 1U : 0U);
      EXPECT_LE(tile.first_row + tile.input_count, rows);
      EXPECT_LE(tile.output_count, columns);
      next_output += tile.output_count;
    }
    EXPECT_EQ(next_output, mapping.outputs());
    next_input += mapping.tiles[r * grid.columns].input_count;
  }
  EXPECT_EQ(next_input, mapping.inputs());
}

TEST(Mapping, every_size_is_covered_by_the_smallest_grid) {
  Parameters small = chip(8);
  small.columns.value = 64;
  std::size_t counted = 0;
  for (const Combine combine : {Combine::rewrite, Combine::digital}) {
    for (std::size_t inputs = 0; inputs <= 50; ++inputs) {
      for (const std::size_t outputs : {1UL, 64UL, 65UL, 129UL}) {
        const Result<Mapping> mapping = map_size(inputs, outputs, small, {.combine = combine});
        ASSERT_TRUE(mapping) << mapping.error().message;
        expect_cover(*mapping, 8, 64);
        const std::size_t more = combine == Combine::rewrite ? 7 : 8;
        EXPECT_EQ(mapping->options.grid.rows, inputs <= 8 ? 1 : (inputs - 8 + more - 1) / more + 1);
        EXPECT_EQ(mapping->groups,
                  32 / (mapping->options.grid.rows * mapping->options.grid.columns));
        ++counted;
      }
    }
  }
  EXPECT_EQ(counted, 2 * 51 * 4);
}

TEST(Mapping, a_larger_grid_may_be_asked_for) {
  const Result<Mapping> mapping = map_size(80, 16, chip(), {.grid = {2, 2}});
  ASSERT_TRUE(mapping);
  expect_cover(*mapping, 512, 512);
  EXPECT_EQ(mapping->tiles[3], (Tile{40, 40, 8, 8, 1}));
  EXPECT_EQ(mapping->groups, 8);
}

TEST(Mapping, two_crossbars_hold_127_shards_with_512_rows_and_128_with_514) {
  EXPECT_EQ(map_size(127 * 8, 1024, chip(512))->options.grid, (Grid{2, 2}));
  EXPECT_EQ(map_size(128 * 8, 1024, chip(512))->options.grid, (Grid{3, 2}));
  EXPECT_EQ(map_size(128 * 8, 1024, chip(514))->options.grid, (Grid{2, 2}));
  const MappingOptions digital{.combine = Combine::digital};
  EXPECT_EQ(map_size(128 * 8, 1024, chip(512), digital)->options.grid, (Grid{2, 2}));
}

TEST(Mapping, a_grid_that_does_not_fit_is_refused_with_an_alternative) {
  const Result<Mapping> narrow = map_size(1024, 1024, chip(), {.grid = {2, 2}});
  ASSERT_FALSE(narrow);
  EXPECT_EQ(narrow.error().message,
            "grid is 2x2, but 1024 inputs and 1024 outputs on crossbars of 512x512 need at least "
            "3x2");
  const Result<Mapping> large = map_size(8, 8, chip(), {.grid = {3, 11}});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().message,
            "grid of 3x11 takes 33 crossbars; expected at most 32: banks times subarrays");
  EXPECT_FALSE(map_size(1024, 8, chip(), {.active_rows_max = 1}));
}

TEST(Mapping, active_rows_are_limited) {
  const Tile upper{.input_count = 40};
  EXPECT_EQ(row_parts({}, upper), (std::vector<RowPart>{{0, 40}}));
  EXPECT_EQ(row_parts({.active_rows_max = 16}, upper),
            (std::vector<RowPart>{{0, 16}, {16, 16}, {32, 8}}));
  EXPECT_EQ(row_parts({.active_rows_max = 40}, upper), (std::vector<RowPart>{{0, 40}}));
  // Row 0 holds a result and is driven with the first part.
  const Tile lower{.input_count = 40, .first_row = 1};
  EXPECT_EQ(row_parts({}, lower), (std::vector<RowPart>{{0, 40}}));
  EXPECT_EQ(row_parts({.active_rows_max = 40}, lower), (std::vector<RowPart>{{0, 39}, {39, 1}}));
}

TEST(Mapping, the_converter_must_hold_the_heaviest_bit_line) {
  gf::BitMatrix matrix(2, 20);
  for (std::size_t i = 0; i < 8; ++i)
    matrix.flip(1, i);
  EXPECT_EQ(adc_bits_needed(*map_matrix(matrix, chip())), 4);  // 8
  EXPECT_EQ(adc_bits_needed(*map_matrix(matrix, chip(), {.active_rows_max = 3})), 2);
  // 8 ones in the upper tile; the lower one has only the result from above.
  EXPECT_EQ(adc_bits_needed(*map_matrix(matrix, chip(), {.grid = {2, 1}})), 4);
  matrix.flip(1, 0);
  EXPECT_EQ(adc_bits_needed(*map_matrix(matrix, chip())), 3);  // 7
}

}  // namespace
}  // namespace calpe::reram
