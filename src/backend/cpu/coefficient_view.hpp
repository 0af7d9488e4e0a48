// SPDX-License-Identifier: Apache-2.0
// Coefficients of GF(2^8) in the caller's memory, at two strides; has the interface of gf::Matrix.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace calpe::backend::cpu {

class CoefficientView {
 public:
  struct Shape {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t row_stride = 0;
    std::size_t column_stride = 0;
  };
  CoefficientView(const std::uint8_t* cells, const Shape& shape) : cells_(cells), shape_(shape) {}

  std::size_t rows() const noexcept { return shape_.rows; }
  std::size_t columns() const noexcept { return shape_.columns; }
  std::size_t row_stride() const noexcept { return shape_.row_stride; }
  std::size_t column_stride() const noexcept { return shape_.column_stride; }
  const std::uint8_t* cell(std::size_t row, std::size_t column) const noexcept {
    return cells_ + row * shape_.row_stride + column * shape_.column_stride;
  }
  std::uint8_t operator()(std::size_t row, std::size_t column) const noexcept {
    return *cell(row, column);
  }

  // View of `rows` x `columns` coefficients, starting at (row, column).
  CoefficientView part(std::size_t row, std::size_t rows, std::size_t column,
                       std::size_t columns) const noexcept {
    Shape shape = shape_;
    shape.rows = rows;
    shape.columns = columns;
    return {cell(row, column), shape};
  }

 private:
  const std::uint8_t* cells_;
  Shape shape_;
};

// Writes the entries of rows [first_row, first_row + row_count), input by input, and returns their
// end. Takes strides because the compiler would reload a view's fields after every written byte.
template <std::size_t EntryBytes>
std::byte* gather(const CoefficientView& rows, std::size_t first_row, std::size_t row_count,
                  const std::byte* entries, std::byte* to) {
  const std::size_t row_stride = rows.row_stride();
  const std::size_t column_stride = rows.column_stride();
  const std::uint8_t* column = rows.cell(first_row, 0);
  for (std::size_t left = rows.columns(); left > 0; --left) {
    const std::uint8_t* cell = column;
    for (std::size_t r = 0; r < row_count; ++r) {
      std::memcpy(to, entries + *cell * EntryBytes, EntryBytes);
      to += EntryBytes;
      cell += row_stride;
    }
    column += column_stride;
  }
  return to;
}

}  // namespace calpe::backend::cpu
