// SPDX-License-Identifier: Apache-2.0
// Compares crossbars with sums computed bit by bit.
#include "reram/crossbar.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace calpe::reram {
namespace {

using Words = std::vector<std::uint64_t>;

Parameters small_crossbar(double rows, double columns, double adc_bits = 10) {
  Parameters parameters;
  parameters.rows.value = rows;
  parameters.columns.value = columns;
  parameters.adc_bits.value = adc_bits;
  return parameters;
}

Words random_words(std::mt19937_64& random, std::size_t count) {
  Words words(count);
  std::ranges::generate(words, random);
  return words;
}

bool bit(const Words& words, std::size_t index) {
  return (words[index / 64] >> (index % 64) & 1) != 0;
}

// Value of a bit-line by definition.
bool reading(std::size_t sum, unsigned adc_bits) {
  return (std::min<std::size_t>(sum, (std::size_t{1} << adc_bits) - 1) & 1) != 0;
}

TEST(Crossbar, holds_what_was_written_and_leaves_the_rest) {
  std::mt19937_64 random(1);
  Crossbar crossbar(small_crossbar(70, 192), 0);
  const Words first = random_words(random, 3);
  const Words second = random_words(random, 3);
  crossbar.write_row(69, first, 192);
  crossbar.write_row(69, second, 100);
  for (std::size_t column = 0; column < 192; ++column)
    EXPECT_EQ(crossbar.cell(69, column), bit(column < 100 ? second : first, column)) << column;
  EXPECT_EQ(crossbar.writes_per_row()[69], 2);
  EXPECT_EQ(crossbar.writes_per_row()[68], 0);
  EXPECT_FALSE(crossbar.cell(68, 5));
}

class CrossbarSums : public testing::TestWithParam<unsigned> {};  // bits of the converter

TEST_P(CrossbarSums, of_64_activations_are_the_bitwise_ones) {
  const unsigned adc_bits = GetParam();
  std::mt19937_64 random(adc_bits);
  constexpr std::size_t rows = 130;
  constexpr std::size_t columns = 128;
  Crossbar crossbar(small_crossbar(rows, columns, adc_bits), 0);
  for (std::size_t row = 0; row < rows; ++row)
    crossbar.write_row(row, random_words(random, 2), columns);
  crossbar.set_mode(Crossbar::Mode::compute);
  std::uint64_t largest = 0;
  std::uint64_t clipped = 0;
  std::uint64_t activations = 0;
  for (const std::size_t lanes : {1UL, 17UL, 63UL, 64UL}) {
    for (const std::size_t first : {0UL, 3UL, 64UL}) {
      const Words inputs = random_words(random, 66);
      Words outputs(columns - 1);
      crossbar.activate(first, inputs, outputs, lanes);
      crossbar.write_row(first, random_words(random, 2),
                         columns);  // the next activation sees new cells
      crossbar.write_row(first, random_words(random, 2), columns);
      crossbar.activate(first, inputs, outputs, lanes);
      activations += 2 * lanes;
      for (std::size_t column = 0; column < outputs.size(); ++column) {
        for (std::size_t lane = 0; lane < 64; ++lane) {
          std::size_t sum = 0;
          for (std::size_t i = 0; i < inputs.size(); ++i)
            sum += crossbar.cell(first + i, column) && (inputs[i] >> lane & 1) != 0 ? 1 : 0;
          if (lane >= lanes) sum = 0;
          largest = std::max<std::uint64_t>(largest, sum);
          clipped += sum >> adc_bits != 0 ? 1 : 0;
          ASSERT_EQ((outputs[column] >> lane & 1) != 0, reading(sum, adc_bits));
        }
      }
    }
  }
  const Counters& counters = crossbar.counters();
  EXPECT_EQ(counters.activations, activations);
  EXPECT_EQ(counters.adc_conversions, activations * (columns - 1));
  EXPECT_GE(counters.largest_sum, largest);  // the first of each pair is not counted here
  EXPECT_LE(counters.largest_sum, 66);
  EXPECT_EQ(counters.clipped_sums == 0, adc_bits >= 7);
  EXPECT_GE(counters.clipped_sums, clipped);
}
INSTANTIATE_TEST_SUITE_P(converters, CrossbarSums, testing::Values(1U, 4U, 5U, 7U, 10U));

TEST(Crossbar, rows_driven_with_1_add_up_on_every_bit_line) {
  std::mt19937_64 random(3);
  for (const std::size_t row_count : {0UL, 1UL, 2UL, 5UL, 64UL}) {
    for (const std::size_t bits : {1UL, 64UL, 100UL, 128UL}) {
      Crossbar crossbar(small_crossbar(64, 128, 4), 0);
      for (std::size_t row = 0; row < 64; ++row)
        crossbar.write_row(row, random_words(random, 2), 128);
      crossbar.set_mode(Crossbar::Mode::compute);
      Words read(2, ~std::uint64_t{0});
      crossbar.activate_rows(64 - row_count, row_count, read, bits);
      std::size_t largest = 0;
      for (std::size_t column = 0; column < bits; ++column) {
        std::size_t sum = 0;
        for (std::size_t row = 64 - row_count; row < 64; ++row)
          sum += crossbar.cell(row, column) ? 1 : 0;
        largest = std::max(largest, sum);
        ASSERT_EQ(bit(read, column), reading(sum, 4));
      }
      EXPECT_EQ(crossbar.counters().largest_sum, largest);
      EXPECT_EQ(crossbar.counters().adc_conversions, bits);
      EXPECT_EQ(crossbar.counters().activations, 1);
    }
  }
}

TEST(Crossbar, a_row_rewritten_before_each_activation_is_added_and_worn) {
  std::mt19937_64 random(4);
  Crossbar crossbar(small_crossbar(20, 64), 0);
  for (std::size_t row = 0; row < 20; ++row)
    crossbar.write_row(row, random_words(random, 1), 64);
  crossbar.set_mode(Crossbar::Mode::compute);
  const Words partials = random_words(random, 50);
  const Words inputs = random_words(random, 19);
  Words outputs(50);
  crossbar.activate_rewriting(partials, 1, inputs, outputs, 40);
  for (std::size_t column = 0; column < 50; ++column) {
    for (std::size_t lane = 0; lane < 40; ++lane) {
      std::size_t sum = partials[column] >> lane & 1;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        sum += crossbar.cell(1 + i, column) && (inputs[i] >> lane & 1) != 0 ? 1 : 0;
      ASSERT_EQ((outputs[column] >> lane & 1) != 0, reading(sum, 10));
    }
    EXPECT_EQ(crossbar.cell(0, column),
              (partials[column] >> 39 & 1) != 0);  // the last write remains
  }
  EXPECT_EQ(crossbar.writes_per_row()[0], 1 + 40);
  EXPECT_EQ(crossbar.writes_per_row()[1], 1);
}

TEST(Crossbar, counts_only_changes_of_mode) {
  Crossbar crossbar(small_crossbar(2, 64), 0);
  EXPECT_EQ(crossbar.mode(), Crossbar::Mode::storage);
  crossbar.set_mode(Crossbar::Mode::storage);
  crossbar.set_mode(Crossbar::Mode::compute);
  crossbar.set_mode(Crossbar::Mode::compute);
  crossbar.set_mode(Crossbar::Mode::storage);
  EXPECT_EQ(crossbar.counters().mode_switches, 2);
}

TEST(CrossbarDeath, in_storage_mode_nothing_is_computed) {
  Crossbar crossbar(small_crossbar(2, 64), 0);
  Words read(1);
  EXPECT_DEATH(crossbar.activate_rows(0, 1, read, 64), "compute");
}

}  // namespace
}  // namespace calpe::reram
