// SPDX-License-Identifier: Apache-2.0
// A parity matrix told by its certificate: points and scales, from which the entries follow as
//
//   M(i, j) = row_scale[i] * column_scale[j] / (row_point[i] + column_point[j])
//
// and without the divisor in a row whose point is infinity. With distinct points and scales other
// than zero every minor is non-zero, so any m losses can be rebuilt: all that a search may change
// keeps this.
#pragma once
#include <cstdint>
#include <vector>

#include <calpe/result.hpp>

#include "ir/program.hpp"

namespace calpe::opt {

struct CauchyPoints {
  static constexpr std::uint32_t infinity = 0xFFFFFFFF;  // for one row at most
  std::vector<std::uint32_t> row_points;
  std::vector<std::uint32_t> column_points;
  std::vector<gf::Element> row_scales;
  std::vector<gf::Element> column_scales;
  bool operator==(const CauchyPoints&) const = default;
};

// Fails with invalid_argument, naming the first point that is taken or outside the field, or the
// scale that is zero.
Status check_points(const gf::Field& field, const CauchyPoints& points);

// Points must have passed check_points.
gf::Matrix matrix_of(const gf::Field& field, const CauchyPoints& points);

}  // namespace calpe::opt
