// SPDX-License-Identifier: Apache-2.0
#include "gf/bit_matrix.hpp"

#include <bit>
#include <utility>

namespace calpe::gf {

std::size_t BitMatrix::ones() const noexcept {
  std::size_t count = 0;
  for (const std::uint64_t word : words_)
    count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

BitMatrix expand(const Field& field, const Matrix& matrix) {
  const unsigned w = field.word_bits();
  BitMatrix bits(matrix.rows() * w, matrix.columns() * w);
  for (std::size_t r = 0; r < matrix.rows(); ++r) {
    for (std::size_t c = 0; c < matrix.columns(); ++c) {
      for (unsigned t = 0; t < w; ++t) {
        const Element column = field.multiply(matrix(r, c), static_cast<Element>(1U << t));
        for (unsigned b = 0; b < w; ++b) {
          if ((column >> b & 1) != 0) bits.flip(r * w + b, c * w + t);
        }
      }
    }
  }
  return bits;
}

std::vector<std::uint16_t> ones_table(const Field& field) {
  std::vector<std::uint16_t> ones(field.size());
  for (std::uint32_t c = 0; c < field.size(); ++c) {
    for (unsigned t = 0; t < field.word_bits(); ++t) {
      const unsigned column =
          field.multiply(static_cast<Element>(c), static_cast<Element>(1U << t));
      ones[c] = static_cast<std::uint16_t>(ones[c] + std::popcount(column));
    }
  }
  return ones;
}

std::size_t rank(BitMatrix matrix) {
  std::size_t found = 0;
  for (std::size_t c = 0; c < matrix.columns() && found < matrix.rows(); ++c) {
    std::size_t pivot = found;
    while (pivot < matrix.rows() && !matrix.get(pivot, c))
      ++pivot;
    if (pivot == matrix.rows()) continue;
    const auto pivot_row = matrix.row(pivot);
    const auto found_row = matrix.row(found);
    for (std::size_t i = 0; i < pivot_row.size(); ++i)
      std::swap(pivot_row[i], found_row[i]);
    for (std::size_t r = found + 1; r < matrix.rows(); ++r) {
      if (!matrix.get(r, c)) continue;
      const auto row = matrix.row(r);
      for (std::size_t i = 0; i < row.size(); ++i)
        row[i] ^= found_row[i];
    }
    ++found;
  }
  return found;
}

}  // namespace calpe::gf
