// SPDX-License-Identifier: Apache-2.0
// A parity matrix given by its certificate, the points and scales. The entries are
//
//   M(i, j) = row_scale[i] * column_scale[j] / (row_point[i] + column_point[j])
//
// without the divisor in a row whose point is infinity. With distinct points and non-zero scales
// every minor is non-zero, so any m losses can be rebuilt. A search only makes changes that keep
// this property.
#pragma once
#include <cstdint>
#include <vector>

#include <calpe/result.hpp>

#include "ir/program.hpp"

namespace calpe::opt {

struct CauchyPoints {
  static constexpr std::uint32_t infinity = 0xFFFFFFFF;  // at most one row
  std::vector<std::uint32_t> row_points;
  std::vector<std::uint32_t> column_points;
  std::vector<gf::Element> row_scales;
  std::vector<gf::Element> column_scales;
  bool operator==(const CauchyPoints&) const = default;
};

// Fails with invalid_argument, naming the first point that is used twice or outside the field, or
// the zero scale.
Status check_points(const gf::Field& field, const CauchyPoints& points);

// Points must have passed check_points.
gf::Matrix matrix_of(const gf::Field& field, const CauchyPoints& points);

}  // namespace calpe::opt
