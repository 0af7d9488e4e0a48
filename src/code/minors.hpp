// SPDX-License-Identifier: Apache-2.0
// Exhaustive proof: every square sub-matrix of the parity rows is invertible. Independent of the
// Cauchy certificate, for matrices that have none and to check the certificate itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::code {

struct MinorSearch {
  bool complete = false;  // every minor was evaluated, or a singular one was found
  std::uint64_t evaluated = 0;
  // A singular sub-matrix, when one was found: losing data `columns` and every parity but `rows`
  // cannot be rebuilt.
  std::vector<std::size_t> rows;
  std::vector<std::size_t> columns;
  bool found_singular() const noexcept { return !rows.empty(); }
};

// Visits each of the C(rows + columns, rows) - 1 minors once, one multiply-add each: a minor is its
// pivot times a minor of the Schur complement. Stops at the first singular one, or incomplete when
// `budget` minors were evaluated.
MinorSearch search_minors(const gf::Field& field, const gf::Matrix& matrix, std::uint64_t budget);

// How many there are, saturating at 2^64 - 1.
std::uint64_t minor_count(std::size_t rows, std::size_t columns) noexcept;

}  // namespace calpe::code
