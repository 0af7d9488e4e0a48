// SPDX-License-Identifier: Apache-2.0
// Imperfections of the cells of one crossbar, drawn from a seed.
//
// A cell that holds 1 conducts 1 + variation * z; one that holds 0 conducts g * (1 + variation * z)
// with g = 1 / on_off_ratio. z is normal, drawn when the cell is written and kept until the next
// write. A stuck cell always holds its bit. The sum of a bit-line is reduced by g for each active
// row (an ideal reference column), divided by 1 - g, and rounded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reram/parameters.hpp"

namespace calpe::reram {

class CellNoise {
 public:
  // `index` distinguishes the crossbars of a chip. The same parameters and index give the same
  // cells. An unprogrammed cell counts as a 0 that is not stuck and conducts exactly g.
  CellNoise(const Parameters& parameters, std::uint64_t index);

  // Writes cells [0, bit_count) of the row; `bits` has 64 per word. `held` receives the resulting
  // contents: the bits, except for stuck cells; 0 beyond bit_count in the last word. Both may be
  // the same memory.
  void program(std::size_t row, std::size_t bit_count, std::span<const std::uint64_t> bits,
               std::span<std::uint64_t> held);

  // Sums of the first sums.size() bit-lines if the rows of `word_lines` are driven; row r is bit r
  // % 64 of word r / 64. Sums may be negative. Requires has_variation().
  void sum(std::span<const std::uint64_t> word_lines, std::span<std::int32_t> sums) const;

  // False: sums follow from the held bits.
  bool has_variation() const noexcept { return variation_ > 0; }

 private:
  void draw_stuck_cells(const Parameters& parameters, std::uint64_t state);
  std::uint64_t held_word(std::size_t row, std::size_t word, std::uint64_t bits) const noexcept;
  void draw_conductances(float* cells, std::size_t bit_count, std::span<const std::uint64_t> held);

  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t row_words_ = 0;
  std::size_t row_floats_ = 0;  // columns_ plus padding for the last block of sum()
  double variation_ = 0;
  double off_ = 0;                       // g
  std::uint64_t random_ = 0;             // state for conductances, not for stuck cells
  std::vector<float> conductances_;      // empty without variation
  std::vector<std::uint64_t> stuck_;     // row_words_ per row; empty without stuck cells
  std::vector<std::uint64_t> stuck_at_;  // the bits that stuck cells hold
};

}  // namespace calpe::reram
