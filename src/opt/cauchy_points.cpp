// SPDX-License-Identifier: Apache-2.0
#include "opt/cauchy_points.hpp"

#include <span>
#include <string_view>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::opt {

namespace {

Status check_scales(const gf::Field& field, std::string_view name,
                    std::span<const gf::Element> scales) {
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] == 0 || scales[i] >= field.size()) {
      return invalid(name, " ", i, " is ", scales[i], "; expected 1..", field.order());
    }
  }
  return Done{};
}

}  // namespace

Status check_points(const gf::Field& field, const CauchyPoints& points) {
  if (points.row_scales.size() != points.row_points.size() ||
      points.column_scales.size() != points.column_points.size()) {
    return invalid("there are ", points.row_scales.size(), " row and ", points.column_scales.size(),
                   " column scales; expected ", points.row_points.size(), " and ",
                   points.column_points.size());
  }
  std::vector<bool> is_taken(field.size() + std::size_t{1});  // infinity last
  const auto take = [&](std::string_view name, std::size_t index, std::uint32_t point) -> Status {
    const bool is_infinite = point == CauchyPoints::infinity;
    if (!is_infinite && point >= field.size()) {
      return invalid(name, " ", index, " is ", point, "; expected at most ", field.order());
    }
    if (is_taken[is_infinite ? field.size() : point]) {
      return invalid(name, " ", index, " is taken: ", is_infinite ? "infinity" : text(point));
    }
    is_taken[is_infinite ? field.size() : point] = true;
    return Done{};
  };
  for (std::size_t i = 0; i < points.row_points.size(); ++i)
    CALPE_CHECK(take("row point", i, points.row_points[i]));
  for (std::size_t j = 0; j < points.column_points.size(); ++j) {
    if (points.column_points[j] == CauchyPoints::infinity) {
      return invalid("column point ", j, " is infinity; expected an element of the field");
    }
    CALPE_CHECK(take("column point", j, points.column_points[j]));
  }
  CALPE_CHECK(check_scales(field, "row scale", points.row_scales));
  return check_scales(field, "column scale", points.column_scales);
}

gf::Matrix matrix_of(const gf::Field& field, const CauchyPoints& points) {
  gf::Matrix matrix(points.row_points.size(), points.column_points.size());
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.columns(); ++j) {
      const gf::Element scale = field.multiply(points.row_scales[i], points.column_scales[j]);
      const std::uint32_t x = points.row_points[i];
      matrix(i, j) =
          x == CauchyPoints::infinity
              ? scale
              : field.divide(scale, static_cast<gf::Element>(x ^ points.column_points[j]));
    }
  }
  return matrix;
}

}  // namespace calpe::opt
