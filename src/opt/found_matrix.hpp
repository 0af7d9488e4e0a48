// SPDX-License-Identifier: Apache-2.0
// The result of a matrix search, and its text: one line of a cache file or table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <calpe/result.hpp>

#include "opt/cauchy_points.hpp"
#include "opt/optimise.hpp"

namespace calpe::opt {

struct FoundMatrix {
  gf::FieldRef field;
  CauchyPoints points;  // defines the shard counts and, through matrix_of(points), the matrix
  // fewest_xors of the matrix with this budget and seed has at most this many XORs.
  std::size_t xors = 0;
  Budget budget = Budget::standard;
  std::uint64_t seed = 1;

  std::size_t data() const noexcept { return points.column_points.size(); }
  std::size_t parity() const noexcept { return points.row_points.size(); }
  gf::Matrix matrix() const { return matrix_of(*field, points); }
};

// Prints "2+2 w=4 polynomial=0x13 xors=8 budget=standard seed=1 rows=inf/1,3/1 columns=0/1,2/1":
// point/scale for each row and column. One line, without a newline.
std::string print(const FoundMatrix& found);

// Fails with invalid_argument and names the wrong word, or the point that breaks the proof.
Result<FoundMatrix> parse_found(std::string_view line);

std::string_view name_of(Budget budget) noexcept;

}  // namespace calpe::opt
