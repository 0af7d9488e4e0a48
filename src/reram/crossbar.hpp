// SPDX-License-Identifier: Apache-2.0
// One crossbar of ReRAM cells. In compute mode, driving word-lines adds up on every bit-line the
// cells that are 1 in the driven rows; the converter's lowest bit of that sum is their XOR.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "reram/counters.hpp"
#include "reram/lane_sums.hpp"
#include "reram/noise.hpp"
#include "reram/parameters.hpp"

namespace calpe::sim {

// So many activations are simulated at once: bit t of a word belongs to activation t.
inline constexpr std::size_t lane_count = 64;

class Crossbar {
 public:
  enum class Mode : std::uint8_t { storage, compute };

  // `index` tells the crossbars of a chip apart: their noise differs. All cells hold 0.
  Crossbar(const Parameters& parameters, std::uint64_t index);

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  Mode mode() const noexcept { return mode_; }
  void set_mode(Mode mode) noexcept;  // counted when it changes

  // Cells [0, bit_count) of a row, 64 to a word; in either mode.
  void write_row(std::size_t row, std::span<const std::uint64_t> bits, std::size_t bit_count);
  bool cell(std::size_t row, std::size_t column) const noexcept;

  // One activation: rows first_row .. first_row + row_count - 1 are driven with 1. The first
  // bit_count bit-lines are read into `bits`. Compute mode only.
  void activate_rows(std::size_t first_row, std::size_t row_count, std::span<std::uint64_t> bits,
                     std::size_t bit_count);

  // `lanes` activations (at most lane_count): word-line first_row + i is driven by bit t of
  // inputs[i] at activation t; bit t of outputs[c] becomes what bit-line c gives. Compute mode
  // only.
  void activate(std::size_t first_row, std::span<const std::uint64_t> inputs,
                std::span<std::uint64_t> outputs, std::size_t lanes);
  // The same with row 0 written before each activation and driven with 1: bit t of partials[c] is
  // what cell (0, c) holds at activation t. first_row is at least 1.
  void activate_rewriting(std::span<const std::uint64_t> partials, std::size_t first_row,
                          std::span<const std::uint64_t> inputs, std::span<std::uint64_t> outputs,
                          std::size_t lanes);

  // activations, adc_conversions, mode_switches, largest_sum and clipped_sums.
  const Counters& counters() const noexcept { return counters_; }
  std::span<const std::uint64_t> writes_per_row() const noexcept { return row_writes_; }

 private:
  std::span<const std::uint64_t> row_words(std::size_t row) const noexcept;
  // Bit r of the result's word r / 64: cell (r, column).
  std::span<const std::uint64_t> column_words(std::size_t column) const noexcept;
  void hold(std::size_t row, std::span<const std::uint64_t> bits, std::size_t bit_count);
  void transpose_cells();
  std::uint64_t convert(const LaneSums& sums);
  bool convert(std::int64_t sum);
  void count_activations(std::size_t activations, std::size_t bit_lines) noexcept;
  void sum(std::span<const std::uint64_t> word_lines, std::span<std::int32_t> sums);
  void activate_noisy(std::span<const std::uint64_t> partials, std::size_t first_row,
                      std::span<const std::uint64_t> inputs, std::span<std::uint64_t> outputs,
                      std::size_t lanes);

  std::size_t rows_;
  std::size_t columns_;
  unsigned adc_bits_;
  Mode mode_ = Mode::storage;
  std::vector<std::uint64_t> cells_;      // row-major
  std::vector<std::uint64_t> by_column_;  // the same transposed; empty until it is needed
  std::vector<std::uint64_t> row_writes_;
  std::unique_ptr<CellNoise> noise_;  // none: ideal cells
  Counters counters_;
};

}  // namespace calpe::sim
