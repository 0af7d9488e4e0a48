// SPDX-License-Identifier: Apache-2.0
// Dense matrices over GF(2^w). The field is an argument of each operation, not a member.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "gf/field.hpp"

namespace calpe::gf {

class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), cells_(rows * columns) {}
  static Matrix identity(std::size_t size);

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  Element operator()(std::size_t r, std::size_t c) const noexcept {
    return cells_[r * columns_ + c];
  }
  Element& operator()(std::size_t r, std::size_t c) noexcept { return cells_[r * columns_ + c]; }
  std::span<const Element> row(std::size_t r) const noexcept {
    return {cells_.data() + r * columns_, columns_};
  }
  std::span<Element> row(std::size_t r) noexcept {
    return {cells_.data() + r * columns_, columns_};
  }
  std::span<const Element> cells() const noexcept { return cells_; }
  bool operator==(const Matrix&) const = default;

 private:
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<Element> cells_;
};

Matrix multiply(const Field& field, const Matrix& a, const Matrix& b);

// Gauss-Jordan elimination; returns nullopt if singular. Plans use it only without a closed form.
std::optional<Matrix> invert(const Field& field, Matrix matrix);

std::size_t rank(const Field& field, Matrix matrix);

}  // namespace calpe::gf
