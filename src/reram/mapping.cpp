// SPDX-License-Identifier: Apache-2.0
#include "reram/mapping.hpp"

#include <algorithm>
#include <bit>

#include "base/assert.hpp"
#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::reram {

namespace {

// One dimension of the grid: capacity of the first tile and of each other tile.
struct Capacity {
  std::size_t first = 0;
  std::size_t other = 0;
  std::size_t tiles_for(std::size_t count) const {
    return count <= first ? 1 : 1 + divide_up(count - first, other);
  }
};

// Split evenly, to minimise the load time of the largest tile.
std::vector<std::size_t> share(std::size_t count, std::size_t tiles, const Capacity& capacity) {
  std::vector<std::size_t> shares;
  for (std::size_t t = 0; t < tiles; ++t) {
    const std::size_t others = (tiles - t - 1) * capacity.other;
    const std::size_t least = count > others ? count - others : 0;
    const std::size_t even = divide_up(count, tiles - t);
    shares.push_back(std::max(even, least));
    count -= shares.back();
  }
  return shares;
}

}  // namespace

std::string_view name_of(Combine combine) noexcept {
  return combine == Combine::rewrite ? "rewrite" : "digital";
}

Result<Mapping> map_matrix(gf::BitMatrix matrix, const Parameters& parameters,
                           const MappingOptions& options) {
  const auto rows = static_cast<std::size_t>(parameters.rows.value);
  const auto columns = static_cast<std::size_t>(parameters.columns.value);
  const bool is_rewriting = options.combine == Combine::rewrite;
  const Capacity of_rows{rows, is_rewriting ? rows - 1 : rows};
  const Capacity of_columns{columns, columns};
  const std::size_t inputs = matrix.columns();
  const std::size_t outputs = matrix.rows();

  const Grid least{of_rows.tiles_for(inputs), of_columns.tiles_for(outputs)};
  Grid grid = options.grid;
  if (grid == Grid{}) grid = least;
  if (grid.rows < least.rows || grid.columns < least.columns) {
    return invalid("grid is ", grid.rows, "x", grid.columns, ", but ", inputs, " inputs and ",
                   outputs, " outputs on crossbars of ", rows, "x", columns, " need at least ",
                   least.rows, "x", least.columns);
  }
  const std::size_t crossbars = grid.rows * grid.columns;
  CALPE_ASSERT(crossbars != 0);  // the least grid has 1 x 1
  if (crossbars > parameters.crossbar_count()) {
    return invalid("grid of ", grid.rows, "x", grid.columns, " takes ", crossbars,
                   " crossbars; expected at most ", parameters.crossbar_count(),
                   ": banks times subarrays");
  }
  if (options.active_rows_max == 1 && is_rewriting && grid.rows > 1) {
    return invalid(
        "active rows is 1; expected at least 2: a result row is driven together with inputs");
  }

  Mapping mapping{std::move(matrix), options, {}, parameters.crossbar_count() / crossbars};
  mapping.options.grid = grid;
  const std::vector<std::size_t> input_shares = share(inputs, grid.rows, of_rows);
  const std::vector<std::size_t> output_shares = share(outputs, grid.columns, of_columns);
  std::size_t first_input = 0;
  for (std::size_t r = 0; r < grid.rows; ++r) {
    std::size_t first_output = 0;
    for (std::size_t c = 0; c < grid.columns; ++c) {
      mapping.tiles.push_back({.first_input = first_input,
                               .input_count = input_shares[r],
                               .first_output = first_output,
                               .output_count = output_shares[c],
                               .first_row = is_rewriting && r > 0 ? 1U : 0U});
      first_output += output_shares[c];
    }
    first_input += input_shares[r];
  }
  return mapping;
}

std::vector<RowPart> row_parts(const MappingOptions& options, const Tile& tile) {
  const std::size_t limit =
      options.active_rows_max == 0 ? tile.input_count + tile.first_row : options.active_rows_max;
  std::vector<RowPart> parts = {{0, std::min(tile.input_count, limit - tile.first_row)}};
  for (std::size_t next = parts[0].input_count; next < tile.input_count; next += limit)
    parts.push_back({next, std::min(limit, tile.input_count - next)});
  return parts;
}

unsigned adc_bits_needed(const Mapping& mapping) {
  std::size_t largest = 1;
  for (const Tile& tile : mapping.tiles) {
    for (std::size_t o = 0; o < tile.output_count; ++o) {
      std::size_t ones = tile.first_row;  // a result from above may be 1, too
      for (std::size_t i = 0; i < tile.input_count; ++i)
        ones += mapping.matrix.get(tile.first_output + o, tile.first_input + i) ? 1 : 0;
      largest = std::max(largest, ones);
    }
  }
  if (mapping.options.active_rows_max != 0)
    largest = std::min(largest, mapping.options.active_rows_max);
  return static_cast<unsigned>(std::bit_width(largest));
}

}  // namespace calpe::reram
