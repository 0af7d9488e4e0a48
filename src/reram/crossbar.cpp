// SPDX-License-Identifier: Apache-2.0
#include "reram/crossbar.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/assert.hpp"
#include "base/divide_up.hpp"

namespace calpe::reram {

namespace {

constexpr std::size_t word_bits = 64;

std::size_t words_for(std::size_t bits) {
  return divide_up(bits, word_bits);
}

std::uint64_t low_bits(std::size_t count) {
  return count >= word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

void set_bit(std::span<std::uint64_t> words, std::size_t bit) {
  words[bit / word_bits] |= std::uint64_t{1} << (bit % word_bits);
}

// Calls visit(i) for each i in [0, count) whose bit first + i is set, ascending.
template <class Visit>
void for_each_bit(std::span<const std::uint64_t> words, std::size_t first, std::size_t count,
                  Visit visit) {
  const std::size_t end = first + count;
  for (std::size_t w = first / word_bits; w * word_bits < end; ++w) {
    std::uint64_t bits = words[w];
    if (w == first / word_bits) bits &= ~low_bits(first % word_bits);
    if (end - w * word_bits < word_bits) bits &= low_bits(end - w * word_bits);
    for (; bits != 0; bits &= bits - 1)
      visit(w * word_bits + static_cast<std::size_t>(std::countr_zero(bits)) - first);
  }
}

}  // namespace

Crossbar::Crossbar(const Parameters& parameters, std::uint64_t index)
    : rows_(static_cast<std::size_t>(parameters.rows.value)),
      columns_(static_cast<std::size_t>(parameters.columns.value)),
      adc_bits_(static_cast<unsigned>(parameters.adc_bits.value)),
      cells_(rows_ * words_for(columns_)),
      row_writes_(rows_) {
  if (!parameters.is_noisy()) return;
  noise_ = std::make_unique<CellNoise>(parameters, index);
  // Cells that are stuck at 1 are visible before the first write.
  const std::vector<std::uint64_t> zeros(words_for(columns_));
  for (std::size_t row = 0; row < rows_; ++row)
    hold(row, zeros, columns_);
}

void Crossbar::set_mode(Mode mode) noexcept {
  if (mode != mode_) ++counters_.mode_switches;
  mode_ = mode;
}

std::span<const std::uint64_t> Crossbar::row_words(std::size_t row) const noexcept {
  return std::span(cells_).subspan(row * words_for(columns_), words_for(columns_));
}

std::span<const std::uint64_t> Crossbar::column_words(std::size_t column) const noexcept {
  return std::span(by_column_).subspan(column * words_for(rows_), words_for(rows_));
}

bool Crossbar::cell(std::size_t row, std::size_t column) const noexcept {
  return (row_words(row)[column / word_bits] >> (column % word_bits) & 1) != 0;
}

void Crossbar::write_row(std::size_t row, std::span<const std::uint64_t> bits,
                         std::size_t bit_count) {
  CALPE_ASSERT(row < rows_ && bit_count <= columns_ && bits.size() >= words_for(bit_count));
  hold(row, bits, bit_count);
  ++row_writes_[row];
}

// Returns the cell contents after a write, including noise.
void Crossbar::hold(std::size_t row, std::span<const std::uint64_t> bits, std::size_t bit_count) {
  std::vector<std::uint64_t> held;
  if (noise_ != nullptr) {
    held.resize(words_for(bit_count));
    noise_->program(row, bit_count, bits, held);
    bits = held;
  }
  for (std::size_t w = 0; w < words_for(bit_count); ++w) {
    std::uint64_t& cells = cells_[row * words_for(columns_) + w];
    std::uint64_t changed = (cells ^ bits[w]) & low_bits(bit_count - w * word_bits);
    cells ^= changed;
    if (by_column_.empty()) continue;
    for (; changed != 0; changed &= changed - 1) {
      const std::size_t column =
          w * word_bits + static_cast<std::size_t>(std::countr_zero(changed));
      by_column_[column * words_for(rows_) + row / word_bits] ^= std::uint64_t{1}
                                                                 << (row % word_bits);
    }
  }
}

void Crossbar::transpose_cells() {
  if (!by_column_.empty()) return;
  by_column_.resize(columns_ * words_for(rows_));
  for (std::size_t row = 0; row < rows_; ++row) {
    for_each_bit(row_words(row), 0, columns_, [&](std::size_t column) {
      by_column_[column * words_for(rows_) + row / word_bits] |= std::uint64_t{1}
                                                                 << (row % word_bits);
    });
  }
}

std::uint64_t Crossbar::convert(const LaneSums& sums) {
  counters_.largest_sum = std::max(counters_.largest_sum, sums.largest());
  const std::uint64_t clipped = sums.beyond(adc_bits_);
  counters_.clipped_sums += static_cast<std::uint64_t>(std::popcount(clipped));
  return sums.lowest_bits() | clipped;  // 2^bits - 1 is odd
}

bool Crossbar::convert(std::int64_t sum) {
  const std::int64_t largest_code = (std::int64_t{1} << adc_bits_) - 1;
  counters_.largest_sum =
      std::max(counters_.largest_sum, static_cast<std::uint64_t>(std::max<std::int64_t>(sum, 0)));
  if (sum > largest_code) ++counters_.clipped_sums;
  return (std::clamp<std::int64_t>(sum, 0, largest_code) & 1) != 0;
}

void Crossbar::count_activations(std::size_t activations, std::size_t bit_lines) noexcept {
  counters_.activations += activations;
  counters_.adc_conversions += activations * bit_lines;
}

void Crossbar::activate_rows(std::size_t first_row, std::size_t row_count,
                             std::span<std::uint64_t> bits, std::size_t bit_count) {
  CALPE_ASSERT(mode_ == Mode::compute && first_row + row_count <= rows_ && bit_count <= columns_);
  CALPE_ASSERT(bits.size() >= words_for(bit_count));
  count_activations(1, bit_count);
  if (noise_ != nullptr && noise_->has_variation()) {
    std::vector<std::uint64_t> word_lines(words_for(rows_));
    for (std::size_t row = first_row; row < first_row + row_count; ++row)
      set_bit(word_lines, row);
    std::vector<std::int32_t> sums(bit_count);
    noise_->sum(word_lines, sums);
    std::ranges::fill(bits, 0);
    for (std::size_t column = 0; column < bit_count; ++column) {
      if (convert(std::int64_t{sums[column]})) set_bit(bits, column);
    }
    return;
  }
  // Here the 64 lanes are bit-lines.
  for (std::size_t w = 0; w < words_for(bit_count); ++w) {
    LaneSums sums;
    const std::size_t stride = words_for(columns_);
    const std::uint64_t* cells = cells_.data() + first_row * stride + w;
    std::size_t i = 0;
    for (; i + 2 <= row_count; i += 2, cells += 2 * stride)
      sums.add(cells[0], cells[stride]);
    if (i < row_count) sums.add(cells[0]);
    sums.keep(low_bits(bit_count - w * word_bits));
    bits[w] = convert(sums);
  }
}

void Crossbar::activate(std::size_t first_row, std::span<const std::uint64_t> inputs,
                        std::span<std::uint64_t> outputs, std::size_t lanes) {
  activate_rewriting({}, first_row, inputs, outputs, lanes);
}

void Crossbar::activate_rewriting(std::span<const std::uint64_t> partials, std::size_t first_row,
                                  std::span<const std::uint64_t> inputs,
                                  std::span<std::uint64_t> outputs, std::size_t lanes) {
  const bool rewrites = !partials.empty();
  CALPE_ASSERT(mode_ == Mode::compute && first_row + inputs.size() <= rows_);
  CALPE_ASSERT(outputs.size() <= columns_ && lanes <= lane_count);
  CALPE_ASSERT(!rewrites || (first_row >= 1 && partials.size() == outputs.size()));
  count_activations(lanes, outputs.size());
  // With noise, every write differs, so simulate each activation separately.
  if (noise_ != nullptr && (rewrites || noise_->has_variation())) {
    activate_noisy(partials, first_row, inputs, outputs, lanes);
    return;
  }
  transpose_cells();
  std::array<std::uint64_t, 2> waiting = {};
  for (std::size_t column = 0; column < outputs.size(); ++column) {
    LaneSums sums;
    if (rewrites) sums.add(partials[column]);
    std::size_t count = 0;
    for_each_bit(column_words(column), first_row, inputs.size(), [&](std::size_t i) {
      waiting[count++ % 2] = inputs[i];
      if (count % 2 == 0) sums.add(waiting[0], waiting[1]);
    });
    if (count % 2 != 0) sums.add(waiting[0]);
    sums.keep(low_bits(lanes));
    outputs[column] = convert(sums);
  }
  if (!rewrites || lanes == 0) return;
  // Only the last contents remain; earlier writes only wear the row.
  std::vector<std::uint64_t> last(words_for(columns_));
  for (std::size_t column = 0; column < partials.size(); ++column) {
    if ((partials[column] >> (lanes - 1) & 1) != 0) set_bit(last, column);
  }
  write_row(0, last, partials.size());
  row_writes_[0] += lanes - 1;
}

void Crossbar::sum(std::span<const std::uint64_t> word_lines, std::span<std::int32_t> sums) {
  if (noise_->has_variation()) {
    noise_->sum(word_lines, sums);
    return;
  }
  transpose_cells();
  for (std::size_t column = 0; column < sums.size(); ++column) {
    sums[column] = 0;
    for (std::size_t w = 0; w < word_lines.size(); ++w)
      sums[column] += std::popcount(column_words(column)[w] & word_lines[w]);
  }
}

void Crossbar::activate_noisy(std::span<const std::uint64_t> partials, std::size_t first_row,
                              std::span<const std::uint64_t> inputs,
                              std::span<std::uint64_t> outputs, std::size_t lanes) {
  std::ranges::fill(outputs, 0);
  std::vector<std::uint64_t> contents(words_for(columns_));
  std::vector<std::uint64_t> word_lines(words_for(rows_));
  std::vector<std::int32_t> sums(outputs.size());
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::ranges::fill(word_lines, 0);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if ((inputs[i] >> lane & 1) != 0) set_bit(word_lines, first_row + i);
    }
    if (!partials.empty()) {
      std::ranges::fill(contents, 0);
      for (std::size_t column = 0; column < partials.size(); ++column) {
        if ((partials[column] >> lane & 1) != 0) set_bit(contents, column);
      }
      write_row(0, contents, partials.size());
      set_bit(word_lines, 0);
    }
    sum(word_lines, sums);
    for (std::size_t column = 0; column < outputs.size(); ++column)
      outputs[column] |= std::uint64_t{convert(std::int64_t{sums[column]})} << lane;
  }
}

}  // namespace calpe::reram
