// SPDX-License-Identifier: Apache-2.0
// Recognises a matrix as a generalised Cauchy matrix, which proves nearly every code here:
//
//   M(i, j) = row_scale[i] * column_scale[j] / (row_point[i] + column_point[j])
//
// with distinct points and non-zero scales. Every minor of such a matrix is a Cauchy determinant
// times scales, hence non-zero, so every loss of m shards can be rebuilt. Inverses have a closed
// form (plan/cauchy_solver). A row of ones, as in `hybrid`, is a row point at infinity. A Moebius
// map x -> 1/(x + z), z unused, maps all points back into the field, so infinity never appears.
#pragma once
#include <optional>
#include <vector>

#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::code {

struct CauchyForm {
  std::vector<gf::Element> row_points;     // one per parity shard
  std::vector<gf::Element> column_points;  // one per data shard
  std::vector<gf::Element> row_scales;
  std::vector<gf::Element> column_scales;
};

// Derives points and scales from the entries alone and checks every entry against them. Returns
// nullopt if the matrix has no such form. O(rows * columns). Needs rows + columns <= 2^w.
std::optional<CauchyForm> recognise_cauchy(const gf::Field& field, const gf::Matrix& matrix);

// Only checks: points distinct, scales non-zero, all entries equal.
bool has_form(const gf::Field& field, const gf::Matrix& matrix, const CauchyForm& form);

}  // namespace calpe::code
