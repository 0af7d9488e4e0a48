// SPDX-License-Identifier: Apache-2.0
// Cuts a bit matrix into tiles that fit crossbars. Word-lines are inputs and bit-lines are outputs,
// so the transposed matrix is stored. A matrix larger than a crossbar uses a grid of them:
//
//   rewrite  results of a tile are written to row 0 of the tile below and driven with 1: the
//            combination mode of Re-RAID (its figure 7 is a grid of 2 x 2)
//   digital  all tiles are activated together and their results XORed outside; nothing is rewritten
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

#include "gf/bit_matrix.hpp"
#include "reram/parameters.hpp"

namespace calpe::reram {

enum class Combine : std::uint8_t { rewrite, digital };
std::string_view name_of(Combine combine) noexcept;

struct Grid {
  std::size_t rows = 0;  // 0 and 0: the smallest grid that holds the matrix
  std::size_t columns = 0;
  bool operator==(const Grid&) const = default;
};

struct MappingOptions {
  Combine combine = Combine::rewrite;
  Grid grid = {};
  // Maximum number of rows driven at once in a crossbar, to limit noise; the results of the parts
  // are XORed outside. 0: no limit.
  std::size_t active_rows_max = 0;
};

// Outputs [first_output, + output_count) from inputs [first_input, + input_count).
struct Tile {
  std::size_t first_input = 0;
  std::size_t input_count = 0;
  std::size_t first_output = 0;
  std::size_t output_count = 0;
  std::size_t first_row = 0;  // 1 if row 0 holds the results of the tile above
  bool operator==(const Tile&) const = default;
};

struct Mapping {
  gf::BitMatrix matrix;     // outputs x inputs
  MappingOptions options;   // with the chosen grid
  std::vector<Tile> tiles;  // grid.rows x grid.columns, row-major
  std::size_t groups = 0;   // grids of crossbars, each with a copy of the matrix

  std::size_t inputs() const noexcept { return matrix.columns(); }
  std::size_t outputs() const noexcept { return matrix.rows(); }
  bool is_combined() const noexcept { return tiles.size() > 1; }
};

// Fails with invalid_argument if the requested grid does not hold the matrix or needs too many
// crossbars; the message names a grid that works.
Result<Mapping> map_matrix(gf::BitMatrix matrix, const Parameters& parameters,
                           const MappingOptions& options = {});

// Inputs of a tile that are driven together in one activation, given active_rows_max. The first
// part leaves room for row 0 if that holds a result.
struct RowPart {
  std::size_t first_input = 0;  // index within the tile
  std::size_t input_count = 0;
  bool operator==(const RowPart&) const = default;
};
std::vector<RowPart> row_parts(const MappingOptions& options, const Tile& tile);

// Minimum number of converter bits that reads every sum of the mapping exactly.
unsigned adc_bits_needed(const Mapping& mapping);

}  // namespace calpe::reram
