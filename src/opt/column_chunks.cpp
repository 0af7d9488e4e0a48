// SPDX-License-Identifier: Apache-2.0
#include "opt/column_chunks.hpp"

#include <algorithm>
#include <bit>

namespace calpe::opt {

namespace {

// Values of a chunk are numbered from 0: its inputs, then the shared ones.
struct ChunkNumbers {
  std::size_t first_input = 0;
  std::size_t inputs = 0;
  std::size_t first_shared = 0;

  Node node_of(std::size_t value) const {
    return static_cast<Node>(value < inputs ? first_input + value
                                            : first_shared + (value - inputs));
  }
};

// Adds the remaining terms of a chunk to the rows' sums.
void add_rest(const RowSets& columns, const ChunkNumbers& numbers,
              std::vector<std::vector<Node>>& rows) {
  for (std::size_t value = 0; value < columns.columns(); ++value) {
    const auto words = columns.column(value);
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (std::uint64_t left = words[i]; left != 0; left &= left - 1) {
        rows[i * 64 + static_cast<std::size_t>(std::countr_zero(left))].push_back(
            numbers.node_of(value));
      }
    }
  }
}

}  // namespace

Sums share_in_chunks(const gf::BitMatrix& rows, const ChunkRules& rules) {
  Sums sums{.inputs = static_cast<std::uint32_t>(rows.columns()),
            .shared = 0,
            .outputs = static_cast<std::uint32_t>(rows.rows()),
            .terms = {}};
  std::vector<std::vector<Node>> row_terms(rows.rows());
  SharingRules sharing = rules.sharing;
  for (std::size_t first = 0; first < rows.columns(); first += rules.chunk_inputs) {
    const std::size_t count = std::min(rules.chunk_inputs, rows.columns() - first);
    RowSets columns = columns_of(rows, first, count);
    const ChunkNumbers numbers{first, count, sums.inputs + sums.shared};
    for (const SharedPair& pair : share_pairs(columns, sharing)) {
      const auto [low, high] =
          std::minmax({numbers.node_of(pair.left), numbers.node_of(pair.right)});
      sums.terms.push_back({low, high});
      ++sums.shared;
    }
    add_rest(columns, numbers, row_terms);
    if (sharing.seed != 0) ++sharing.seed;  // similar chunks get different seeds
  }
  for (std::vector<Node>& terms : row_terms) {
    std::ranges::sort(terms);
    sums.terms.push_back(std::move(terms));
  }
  return sums;
}

}  // namespace calpe::opt
