// SPDX-License-Identifier: Apache-2.0
#include "plan/linear_solve.hpp"

#include <algorithm>

namespace calpe::plan {

using gf::Element;

std::optional<std::vector<Element>> solve_unique(const gf::Field& field, gf::Matrix system,
                                                 std::vector<Element> right) {
  const std::size_t columns = system.columns();
  if (system.rows() < columns) return std::nullopt;
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t pivot = c;
    while (pivot < system.rows() && system(pivot, c) == 0)
      ++pivot;
    if (pivot == system.rows()) return std::nullopt;
    if (pivot != c) {
      std::ranges::swap_ranges(system.row(pivot), system.row(c));
      std::swap(right[pivot], right[c]);
    }
    for (std::size_t r = 0; r < system.rows(); ++r) {
      if (r == c || system(r, c) == 0) continue;
      const Element factor = field.divide(system(r, c), system(c, c));
      for (std::size_t j = c; j < columns; ++j) {
        system(r, j) = static_cast<Element>(system(r, j) ^ field.multiply(factor, system(c, j)));
      }
      right[r] = static_cast<Element>(right[r] ^ field.multiply(factor, right[c]));
    }
  }
  for (std::size_t r = columns; r < system.rows(); ++r) {
    if (right[r] != 0) return std::nullopt;  // inconsistent
  }
  right.resize(columns);
  for (std::size_t c = 0; c < columns; ++c)
    right[c] = field.divide(right[c], system(c, c));
  return right;
}

}  // namespace calpe::plan
