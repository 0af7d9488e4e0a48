// SPDX-License-Identifier: Apache-2.0
// What is not ideal in the cells of one crossbar, drawn from a seed.
//
// A cell that holds 1 conducts 1 + variation * z, one that holds 0 conducts g * (1 + variation * z)
// with g = 1 / on_off_ratio; z is normal, drawn when the cell is written and kept until it is
// written again. A stuck cell holds its bit whatever is written. The bit-line's sum is taken less
// g for each active row (an ideal reference column), divided by 1 - g, and rounded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reram/parameters.hpp"

namespace calpe::sim {

class CellNoise {
 public:
  // Crossbars of one chip differ by `index`; the same parameters and index give the same cells.
  // Until a cell is programmed it counts as a 0 that is not stuck and conducts exactly g.
  CellNoise(const Parameters& parameters, std::uint64_t index);

  // Cells [0, bit_count) of the row are written; `bits` are 64 to a word. Returns through `held`
  // what the cells then hold: the bits, but for stuck cells; 0 beyond bit_count in the last word.
  // Both may be the same memory.
  void program(std::size_t row, std::size_t bit_count, std::span<const std::uint64_t> bits,
               std::span<std::uint64_t> held);

  // Sums of the first sums.size() bit-lines when the rows of `word_lines` are driven, bit r of
  // word r / 64 being row r. May be negative. Only where has_variation().
  void sum(std::span<const std::uint64_t> word_lines, std::span<std::int32_t> sums) const;

  bool has_variation() const noexcept { return variation_ > 0; }  // false: sums of the held bits

 private:
  void draw_stuck_cells(const Parameters& parameters, std::uint64_t state);
  std::uint64_t held_word(std::size_t row, std::size_t word, std::uint64_t bits) const noexcept;
  void draw_conductances(float* cells, std::size_t bit_count, std::span<const std::uint64_t> held);

  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t row_words_ = 0;
  std::size_t row_floats_ = 0;  // columns_ and what fills the last block of sum()
  double variation_ = 0;
  double off_ = 0;                       // g
  std::uint64_t random_ = 0;             // of the conductances, never of the stuck cells
  std::vector<float> conductances_;      // empty without variation
  std::vector<std::uint64_t> stuck_;     // row_words_ to a row; empty without stuck cells
  std::vector<std::uint64_t> stuck_at_;  // the bits that those hold
};

}  // namespace calpe::sim
