// SPDX-License-Identifier: Apache-2.0
// Proves exhaustively that every square sub-matrix of the parity rows is invertible. Independent of
// the Cauchy certificate: used for matrices without one and to test the certificate.
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
  // A singular sub-matrix, if found: losing data `columns` and every parity except `rows` cannot be
  // rebuilt.
  std::vector<std::size_t> rows;
  std::vector<std::size_t> columns;
  bool found_singular() const noexcept { return !rows.empty(); }
};

// Visits each of the C(rows + columns, rows) - 1 minors once, with one multiply-add each: a minor
// is its pivot times a minor of the Schur complement. Stops at the first singular minor, or,
// incomplete, after `budget` minors.
MinorSearch search_minors(const gf::Field& field, const gf::Matrix& matrix, std::uint64_t budget);

// Returns the number of minors, saturated at 2^64 - 1.
std::uint64_t minor_count(std::size_t rows, std::size_t columns) noexcept;

}  // namespace calpe::code
