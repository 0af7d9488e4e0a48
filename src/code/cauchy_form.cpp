// SPDX-License-Identifier: Apache-2.0
#include "code/cauchy_form.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace calpe::code {

namespace {

using gf::Element;
using gf::Field;
using gf::Matrix;

Element add(Element a, Element b) noexcept {
  return static_cast<Element>(a ^ b);
}

// Extended points with row 0 at infinity and column 0 at 0. From
//   M(i,j) M(0,0) / (M(i,0) M(0,j)) = x_i / (x_i + y_j)
// follows y_j / x_i = 1 + M(i,0) M(0,j) / (M(i,j) M(0,0)). The scale of all points is free,
// so x_1 = 1.
// Example, hybrid 2+2 over GF(2^8): rows {1,1} and {1/3, 1/2}; y_1/x_1 = 1 + (1/3)*2 = 1 xor 2/3.
struct ExtendedPoints {
  std::vector<Element> rows;  // [0] unused: infinity
  std::vector<Element> columns;
};

ExtendedPoints derive_points(const Field& field, const Matrix& matrix) {
  ExtendedPoints points{std::vector<Element>(matrix.rows()),
                        std::vector<Element>(matrix.columns())};
  const auto ratio = [&](std::size_t i, std::size_t j) {
    const Element cross = field.multiply(matrix(i, 0), matrix(0, j));
    return add(1, field.divide(cross, field.multiply(matrix(i, j), matrix(0, 0))));
  };
  // With one row, any distinct column points work, and vice versa.
  for (std::size_t j = 1; j < matrix.columns(); ++j) {
    points.columns[j] = matrix.rows() > 1 ? ratio(1, j) : static_cast<Element>(j);
  }
  for (std::size_t i = 1; i < matrix.rows(); ++i) {
    if (matrix.columns() == 1) {
      points.rows[i] = static_cast<Element>(i);
      continue;
    }
    const Element q = ratio(i, 1);
    points.rows[i] = q == 0 ? Element{0} : field.divide(points.columns[1], q);
  }
  return points;
}

// Returns the first field element that is not a finite point. It exists: row 0 is at infinity, so
// with rows + columns <= size() at most size() - 1 elements are used.
Element unused_element(const Field& field, const ExtendedPoints& points) {
  std::vector<bool> used(field.size());
  for (std::size_t i = 1; i < points.rows.size(); ++i)
    used[points.rows[i]] = true;
  for (const Element y : points.columns)
    used[y] = true;
  const auto unused = std::ranges::find(used, false);
  CALPE_ASSERT(unused != used.end());
  return static_cast<Element>(unused - used.begin());
}

}  // namespace

bool has_form(const Field& field, const Matrix& matrix, const CauchyForm& form) {
  if (form.row_points.size() != matrix.rows() || form.row_scales.size() != matrix.rows() ||
      form.column_points.size() != matrix.columns() ||
      form.column_scales.size() != matrix.columns()) {
    return false;
  }
  std::vector<bool> used(field.size());
  for (const auto* points : {&form.row_points, &form.column_points}) {
    for (const Element point : *points) {
      if (used[point]) return false;
      used[point] = true;
    }
  }
  const auto is_zero = [](Element e) { return e == 0; };
  if (std::ranges::any_of(form.row_scales, is_zero) ||
      std::ranges::any_of(form.column_scales, is_zero)) {
    return false;
  }
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.columns(); ++j) {
      const Element sum = add(form.row_points[i], form.column_points[j]);
      const Element scales = field.multiply(form.row_scales[i], form.column_scales[j]);
      if (field.multiply(matrix(i, j), sum) != scales) return false;
    }
  }
  return true;
}

std::optional<CauchyForm> recognise_cauchy(const Field& field, const Matrix& matrix) {
  if (matrix.rows() == 0 || matrix.columns() == 0) return std::nullopt;
  if (matrix.rows() + matrix.columns() > field.size()) return std::nullopt;
  if (std::ranges::find(matrix.cells(), Element{0}) != matrix.cells().end()) return std::nullopt;

  const ExtendedPoints points = derive_points(field, matrix);
  for (std::size_t i = 1; i < matrix.rows(); ++i) {
    if (points.rows[i] == 0) return std::nullopt;  // equals the point of column 0
  }
  const Element z = unused_element(field, points);
  CauchyForm form;
  const auto map = [&](Element point) { return field.inverse(add(point, z)); };
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    if (i == 0) {  // infinity -> 0
      form.row_points.push_back(0);
      form.row_scales.push_back(1);
      continue;
    }
    const Element point = map(points.rows[i]);
    const Element scale = field.multiply(field.divide(matrix(i, 0), matrix(0, 0)), points.rows[i]);
    form.row_points.push_back(point);
    form.row_scales.push_back(field.multiply(scale, point));
  }
  for (std::size_t j = 0; j < matrix.columns(); ++j) {
    form.column_points.push_back(map(points.columns[j]));
    form.column_scales.push_back(field.multiply(matrix(0, j), form.column_points.back()));
  }
  if (!has_form(field, matrix, form)) return std::nullopt;
  return form;
}

}  // namespace calpe::code
