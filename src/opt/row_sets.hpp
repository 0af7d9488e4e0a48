// SPDX-License-Identifier: Apache-2.0
// A matrix over GF(2) by columns: for every value the set of rows that add it, one bit per row. The
// number of rows with two values is the popcount of an AND, a word at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/linear_map.hpp"

namespace calpe::opt {

class RowSets {
 public:
  RowSets(std::size_t rows, std::size_t columns)
      : rows_(rows), words_((rows + 63) / 64), bits_(columns * words_) {}

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return words_ == 0 ? 0 : bits_.size() / words_; }
  std::size_t words() const noexcept { return words_; }  // per column
  bool get(std::size_t row, std::size_t column) const noexcept {
    return (bits_[column * words_ + row / 64] >> (row % 64) & 1) != 0;
  }
  void flip(std::size_t row, std::size_t column) noexcept {
    bits_[column * words_ + row / 64] ^= std::uint64_t{1} << (row % 64);
  }
  std::span<std::uint64_t> column(std::size_t c) noexcept {
    return {bits_.data() + c * words_, words_};
  }
  std::span<const std::uint64_t> column(std::size_t c) const noexcept {
    return {bits_.data() + c * words_, words_};
  }
  // Appends an empty column.
  void append_column() { bits_.resize(bits_.size() + words_); }
  void reserve(std::size_t columns) { bits_.reserve(columns * words_); }

 private:
  std::size_t rows_;
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

// Returns `count` columns of a matrix, starting at `first`.
inline RowSets columns_of(const gf::BitMatrix& map, std::size_t first, std::size_t count) {
  RowSets columns(map.rows(), count);
  for (std::size_t r = 0; r < map.rows(); ++r) {
    for (std::size_t c = 0; c < count; ++c) {
      if (map.get(r, first + c)) columns.flip(r, c);
    }
  }
  return columns;
}

}  // namespace calpe::opt
