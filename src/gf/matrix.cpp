// SPDX-License-Identifier: Apache-2.0
#include "gf/matrix.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace calpe::gf {

namespace {

// row += factor * pivot
void add_scaled(const Field& field, std::span<Element> row, std::span<const Element> pivot,
                Element factor) {
  for (std::size_t c = 0; c < row.size(); ++c) {
    row[c] = static_cast<Element>(row[c] ^ field.multiply(factor, pivot[c]));
  }
}

void scale(const Field& field, std::span<Element> row, Element factor) {
  for (Element& cell : row)
    cell = field.multiply(cell, factor);
}

void swap_rows(Matrix& matrix, std::size_t a, std::size_t b) {
  if (a != b) std::ranges::swap_ranges(matrix.row(a), matrix.row(b));
}

}  // namespace

Matrix Matrix::identity(std::size_t size) {
  Matrix result(size, size);
  for (std::size_t i = 0; i < size; ++i)
    result(i, i) = 1;
  return result;
}

Matrix multiply(const Field& field, const Matrix& a, const Matrix& b) {
  CALPE_ASSERT(a.columns() == b.rows());
  Matrix result(a.rows(), b.columns());
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t i = 0; i < a.columns(); ++i) {
      if (a(r, i) != 0) add_scaled(field, result.row(r), b.row(i), a(r, i));
    }
  }
  return result;
}

std::optional<Matrix> invert(const Field& field, Matrix matrix) {
  CALPE_ASSERT(matrix.rows() == matrix.columns());
  const std::size_t size = matrix.rows();
  Matrix inverse = Matrix::identity(size);
  for (std::size_t c = 0; c < size; ++c) {
    std::size_t pivot = c;
    while (pivot < size && matrix(pivot, c) == 0)
      ++pivot;
    if (pivot == size) return std::nullopt;
    swap_rows(matrix, pivot, c);
    swap_rows(inverse, pivot, c);
    const Element factor = field.inverse(matrix(c, c));
    scale(field, matrix.row(c), factor);
    scale(field, inverse.row(c), factor);
    for (std::size_t r = 0; r < size; ++r) {
      const Element above = matrix(r, c);
      if (r == c || above == 0) continue;
      add_scaled(field, matrix.row(r), matrix.row(c), above);
      add_scaled(field, inverse.row(r), inverse.row(c), above);
    }
  }
  return inverse;
}

std::size_t rank(const Field& field, Matrix matrix) {
  std::size_t found = 0;
  for (std::size_t c = 0; c < matrix.columns() && found < matrix.rows(); ++c) {
    std::size_t pivot = found;
    while (pivot < matrix.rows() && matrix(pivot, c) == 0)
      ++pivot;
    if (pivot == matrix.rows()) continue;
    swap_rows(matrix, pivot, found);
    for (std::size_t r = found + 1; r < matrix.rows(); ++r) {
      if (matrix(r, c) == 0) continue;
      add_scaled(field, matrix.row(r), matrix.row(found),
                 field.divide(matrix(r, c), matrix(found, c)));
    }
    ++found;
  }
  return found;
}

}  // namespace calpe::gf
