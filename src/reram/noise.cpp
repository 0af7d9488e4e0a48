// SPDX-License-Identifier: Apache-2.0
// The numbers of a seed are the same with every compiler: the generator is our own, and every
// product is rounded before an addition, so that nothing can be contracted to one operation.
#include "reram/noise.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/assert.hpp"
#include "base/divide_up.hpp"
#include "reram/error_rates.hpp"

namespace calpe::reram {
namespace {

// Bit-lines that are summed together, so that their sums stay in registers.
constexpr std::size_t block = 32;

// splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t next_random(std::uint64_t& state) noexcept {
  std::uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

enum class Purpose : std::uint8_t { conductance, stuck };

std::uint64_t first_state(const Parameters& parameters, std::uint64_t index, Purpose purpose) {
  std::uint64_t state = std::bit_cast<std::uint64_t>(parameters.seed.value);
  state = next_random(state) ^ index;
  state = next_random(state) ^ static_cast<std::uint64_t>(purpose);
  return next_random(state);
}

// Two independent normal variables by Marsaglia's polar method. Integers decide exactly whether the
// point is in the circle. Differences between math libraries vanish when the conductance is rounded
// to float.
std::array<double, 2> normal_pair(std::uint64_t& state) noexcept {
  constexpr std::uint64_t radius_squared = std::uint64_t{1} << 62;
  while (true) {
    const std::uint64_t bits = next_random(state);
    const std::int64_t x = static_cast<std::int32_t>(bits);
    const std::int64_t y = static_cast<std::int32_t>(bits >> 32);
    const auto square = static_cast<std::uint64_t>(x * x) + static_cast<std::uint64_t>(y * y);
    if (square == 0 || square >= radius_squared) continue;
    const double s = static_cast<double>(square) * 0x1p-62;
    const double factor = std::sqrt(-2 * std::log(s) / s) * 0x1p-31;
    return {static_cast<double>(x) * factor, static_cast<double>(y) * factor};
  }
}

bool bit_at(std::span<const std::uint64_t> words, std::size_t index) noexcept {
  return (words[index / 64] >> (index % 64) & 1) != 0;
}

using Totals = std::array<float, block>;

// `cells` is row 0 of the block. Returns the number of rows added.
std::size_t add_rows(const float* cells, std::size_t row_floats,
                     std::span<const std::uint64_t> word_lines, Totals& totals) noexcept {
  std::size_t count = 0;
  Totals sums = {};
  for (std::size_t w = 0; w < word_lines.size(); ++w) {
    for (std::uint64_t left = word_lines[w]; left != 0; left &= left - 1) {
      const auto row = w * 64 + static_cast<std::size_t>(std::countr_zero(left));
      const float* const row_cells = cells + row * row_floats;
      // Sums stay in registers only if the loop over them is unrolled.
#ifndef __clang__
#pragma GCC unroll 32
#endif
      for (std::size_t c = 0; c < block; ++c)
        sums[c] += row_cells[c];
      ++count;
    }
  }
  totals = sums;
  return count;
}

// Ideal converter of a bit-line: subtract the reference, scale, round to the nearest integer.
std::int32_t converted(float total, float reference, float step) noexcept {
  // Adding 1.5 * 2^23 rounds to an integer below this limit, without a library call.
  constexpr float shift = 12582912;
  constexpr float limit = 2097152;
  const float exact = (total - reference) / step;
  const float inside = std::min(limit, std::max(-limit, exact));  // this order also handles NaN
  return static_cast<std::int32_t>(inside + shift - shift);
}

}  // namespace

CellNoise::CellNoise(const Parameters& parameters, std::uint64_t index)
    : rows_(static_cast<std::size_t>(parameters.rows.value)),
      columns_(static_cast<std::size_t>(parameters.columns.value)),
      row_words_(divide_up(columns_, 64)),
      row_floats_(round_up(columns_, block)),
      variation_(parameters.variation.value),
      off_(off_conductance(parameters)),
      random_(first_state(parameters, index, Purpose::conductance)) {
  if (parameters.stuck_at_0.value > 0 || parameters.stuck_at_1.value > 0)
    draw_stuck_cells(parameters, first_state(parameters, index, Purpose::stuck));
  if (has_variation()) conductances_.assign(rows_ * row_floats_, static_cast<float>(off_));
}

void CellNoise::draw_stuck_cells(const Parameters& parameters, std::uint64_t state) {
  stuck_.resize(rows_ * row_words_);
  stuck_at_.resize(rows_ * row_words_);
  const double ones = parameters.stuck_at_1.value;
  const double all = ones + parameters.stuck_at_0.value;
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t c = 0; c < columns_; ++c) {
      const double u = static_cast<double>(next_random(state) >> 11) * 0x1p-53;
      const std::size_t word = row * row_words_ + c / 64;
      stuck_[word] |= std::uint64_t{u < all} << (c % 64);
      stuck_at_[word] |= std::uint64_t{u < ones} << (c % 64);
    }
  }
}

std::uint64_t CellNoise::held_word(std::size_t row, std::size_t word,
                                   std::uint64_t bits) const noexcept {
  if (stuck_.empty()) return bits;
  const std::size_t at = row * row_words_ + word;
  return (bits & ~stuck_[at]) | stuck_at_[at];
}

void CellNoise::program(std::size_t row, std::size_t bit_count, std::span<const std::uint64_t> bits,
                        std::span<std::uint64_t> held) {
  const std::size_t words = (bit_count + 63) / 64;
  CALPE_ASSERT(row < rows_ && bit_count <= columns_);
  CALPE_ASSERT(bits.size() >= words && held.size() >= words);
  for (std::size_t w = 0; w < words; ++w)
    held[w] = held_word(row, w, bits[w]);
  if (bit_count % 64 != 0) held[words - 1] &= (std::uint64_t{1} << (bit_count % 64)) - 1;
  if (has_variation()) draw_conductances(&conductances_[row * row_floats_], bit_count, held);
}

void CellNoise::draw_conductances(float* cells, std::size_t bit_count,
                                  std::span<const std::uint64_t> held) {
  for (std::size_t first = 0; first < bit_count; first += 2) {
    const std::array<double, 2> normal = normal_pair(random_);
    for (std::size_t c = first; c < std::min(first + 2, bit_count); ++c) {
      const double mean = bit_at(held, c) ? 1 : off_;
      const auto deviation = static_cast<float>(mean * variation_ * normal[c - first]);
      cells[c] = static_cast<float>(mean) + deviation;
    }
  }
}

void CellNoise::sum(std::span<const std::uint64_t> word_lines, std::span<std::int32_t> sums) const {
  CALPE_ASSERT(has_variation() && sums.size() <= columns_);
  CALPE_ASSERT(word_lines.size() <= (rows_ + 63) / 64);
  const auto step = static_cast<float>(1 - off_);
  Totals totals;
  for (std::size_t first = 0; first < sums.size(); first += block) {
    const std::size_t active = add_rows(&conductances_[first], row_floats_, word_lines, totals);
    const auto reference = static_cast<float>(off_ * static_cast<double>(active));
    const std::size_t count = std::min(block, sums.size() - first);
    for (std::size_t c = 0; c < count; ++c)
      sums[first + c] = converted(totals[c], reference, step);
  }
}

}  // namespace calpe::reram
