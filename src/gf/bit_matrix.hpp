// SPDX-License-Identifier: Apache-2.0
// Matrices over GF(2), 64 columns to a word, and the expansion of a GF(2^w) matrix into one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gf/matrix.hpp"

namespace calpe::gf {

class BitMatrix {
 public:
  BitMatrix() = default;
  BitMatrix(std::size_t rows, std::size_t columns)
      : rows_(rows),
        columns_(columns),
        row_words_((columns + 63) / 64),
        words_(rows * row_words_) {}

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  bool get(std::size_t r, std::size_t c) const noexcept {
    return (words_[r * row_words_ + c / 64] >> (c % 64) & 1) != 0;
  }
  void flip(std::size_t r, std::size_t c) noexcept {
    words_[r * row_words_ + c / 64] ^= std::uint64_t{1} << (c % 64);
  }
  std::span<const std::uint64_t> row(std::size_t r) const noexcept {
    return {words_.data() + r * row_words_, row_words_};
  }
  std::span<std::uint64_t> row(std::size_t r) noexcept {
    return {words_.data() + r * row_words_, row_words_};
  }
  std::size_t ones() const noexcept;
  bool operator==(const BitMatrix&) const = default;

 private:
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t row_words_ = 0;
  std::vector<std::uint64_t> words_;
};

// Expands multiplication by c to w x w bits. Bit b of c*x is the sum over t of bit (b, t) times bit
// t of x, so column t is c * 2^t. Example, w = 3, x^3+x+1, c = 3: columns 3, 6, 7 = rows 101, 111,
// 011. A matrix becomes rows*w x columns*w, each coefficient in place. Jerasure's convention.
BitMatrix expand(const Field& field, const Matrix& matrix);

// Entry c is the number of ones in the bit matrix of c: the XORs that c costs, plus one per row.
std::vector<std::uint16_t> ones_table(const Field& field);

std::size_t rank(BitMatrix matrix);

}  // namespace calpe::gf
