// SPDX-License-Identifier: Apache-2.0
// One crossbar of ReRAM cells. In compute mode, each bit-line sums the cells that are 1 in the
// driven rows. The lowest bit of the converted sum is their XOR.
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

namespace calpe::reram {

// Activations simulated at once: bit t of a word belongs to activation t.
inline constexpr std::size_t lane_count = 64;

class Crossbar {
 public:
  enum class Mode : std::uint8_t { storage, compute };

  // `index` distinguishes the crossbars of a chip, whose noise differs. All cells hold 0.
  Crossbar(const Parameters& parameters, std::uint64_t index);

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  Mode mode() const noexcept { return mode_; }
  void set_mode(Mode mode) noexcept;  // counts changes

  // Writes cells [0, bit_count) of a row, 64 per word. Allowed in either mode.
  void write_row(std::size_t row, std::span<const std::uint64_t> bits, std::size_t bit_count);
  bool cell(std::size_t row, std::size_t column) const noexcept;

  // One activation with rows first_row .. first_row + row_count - 1 driven with 1. Reads the first
  // bit_count bit-lines into `bits`. Compute mode only.
  void activate_rows(std::size_t first_row, std::size_t row_count, std::span<std::uint64_t> bits,
                     std::size_t bit_count);

  // `lanes` activations (at most lane_count). Bit t of inputs[i] drives word-line first_row + i in
  // activation t; bit t of outputs[c] is the result of bit-line c. Compute mode only.
  void activate(std::size_t first_row, std::span<const std::uint64_t> inputs,
                std::span<std::uint64_t> outputs, std::size_t lanes);
  // The same, with row 0 written before each activation and driven with 1. Bit t of partials[c] is
  // the content of cell (0, c) in activation t. first_row is at least 1.
  void activate_rewriting(std::span<const std::uint64_t> partials, std::size_t first_row,
                          std::span<const std::uint64_t> inputs, std::span<std::uint64_t> outputs,
                          std::size_t lanes);

  // Counts activations, adc_conversions, mode_switches, largest_sum and clipped_sums.
  const Counters& counters() const noexcept { return counters_; }
  std::span<const std::uint64_t> writes_per_row() const noexcept { return row_writes_; }

 private:
  std::span<const std::uint64_t> row_words(std::size_t row) const noexcept;
  // Cell (r, column) is bit r % 64 of the result's word r / 64.
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
  std::vector<std::uint64_t> by_column_;  // transposed; empty until needed
  std::vector<std::uint64_t> row_writes_;
  std::unique_ptr<CellNoise> noise_;  // null: ideal cells
  Counters counters_;
};

}  // namespace calpe::reram
