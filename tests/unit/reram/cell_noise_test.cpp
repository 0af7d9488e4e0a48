// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "reram/noise.hpp"

namespace calpe::reram {
namespace {

using Words = std::vector<std::uint64_t>;
using Sums = std::vector<std::int32_t>;

constexpr std::size_t rows = 130;
constexpr std::size_t columns = 100;
constexpr std::uint64_t every_bit = ~std::uint64_t{0};

Parameters noise_of(double variation, double on_off_ratio) {
  Parameters parameters;
  parameters.rows = {rows};
  parameters.columns = {columns};
  parameters.variation = {variation};
  parameters.on_off_ratio = {on_off_ratio};
  return parameters;
}

Words pattern(std::size_t row) {
  return {0x9E3779B97F4A7C15 * (row + 1), 0xBF58476D1CE4E5B9 * (row + 7)};
}

bool bit_of(const Words& words, std::size_t index) {
  return (words[index / 64] >> (index % 64) & 1) != 0;
}

void program_pattern(CellNoise& noise) {
  Words held(2);
  for (std::size_t row = 0; row < rows; ++row)
    noise.program(row, columns, pattern(row), held);
}

Words driven_rows() {
  return {0x0F1E2D3C4B5A6978, 0xFFFF00000000FFFF, 2};
}

// Exact sums of the pattern if these rows are driven.
Sums exact_sums(const Words& word_lines, std::size_t count) {
  Sums sums(count);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t c = 0; c < count && bit_of(word_lines, row); ++c)
      sums[c] += bit_of(pattern(row), c) ? 1 : 0;
  }
  return sums;
}

Sums sums_of(const CellNoise& noise, const Words& word_lines, std::size_t count = columns) {
  Sums sums(count, -1);
  noise.sum(word_lines, sums);
  return sums;
}

// A variation so large that a sum reveals the conductances of its cells.
Sums telling_sums(CellNoise& noise) {
  program_pattern(noise);
  return sums_of(noise, driven_rows());
}

TEST(CellNoise, NoVariationMeansTheBitsThemselves) {
  CellNoise noise(noise_of(0, 20), 0);
  EXPECT_FALSE(noise.has_variation());
  for (std::size_t row = 0; row < rows; ++row) {
    Words held(2);
    noise.program(row, columns, pattern(row), held);
    EXPECT_EQ(held[0], pattern(row)[0]);
    EXPECT_EQ(held[1], pattern(row)[1] & 0xFFFFFFFFF) << "nothing beyond column 99";
  }
}

TEST(CellNoise, LittleVariationGivesExactSumsOfAnyWidth) {
  for (const double ratio : {0.0, 2.0, 20.0, 1000.0}) {
    CellNoise noise(noise_of(1e-4, ratio), 0);
    EXPECT_TRUE(noise.has_variation());
    program_pattern(noise);
    for (const std::size_t width : {1U, 31U, 32U, 33U, 64U, 99U, 100U})
      EXPECT_EQ(sums_of(noise, driven_rows(), width), exact_sums(driven_rows(), width)) << ratio;
    EXPECT_EQ(sums_of(noise, {0, 0, 0}), Sums(columns, 0));
    EXPECT_EQ(sums_of(noise, {every_bit, every_bit, 3}),
              exact_sums({every_bit, every_bit, 3}, columns));
  }
}

// Zeros conduct half as much as ones; after compensation only their noise remains.
TEST(CellNoise, ZerosThatConductAddTheirNoise) {
  constexpr double variation = 50;
  for (const double ratio : {0.0, 2.0, 4.0}) {
    const double off = ratio == 0 ? 0 : 1 / ratio;
    CellNoise noise(noise_of(variation, ratio), 0);
    double squares = 0;
    constexpr int repeats = 200;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      Words held(2);
      for (std::size_t row = 0; row < 16; ++row)
        noise.program(row, columns, Words(2, 0), held);
      for (const std::int32_t sum : sums_of(noise, {0xFFFF, 0, 0}))
        squares += static_cast<double>(sum) * sum;
    }
    const double deviation = std::sqrt(squares / (repeats * columns));
    EXPECT_NEAR(deviation, variation * off * 4 / (1 - off), 0.03 * variation) << ratio;
  }
}

TEST(CellNoise, SeedAndIndexDecideTheCells) {
  Parameters parameters = noise_of(50, 20);
  CellNoise first(parameters, 3);
  CellNoise again(parameters, 3);
  CellNoise neighbour(parameters, 4);
  parameters.seed = {2};
  CellNoise reseeded(parameters, 3);
  const Sums sums = telling_sums(first);
  EXPECT_EQ(telling_sums(again), sums);
  EXPECT_NE(telling_sums(neighbour), sums);
  EXPECT_NE(telling_sums(reseeded), sums);
}

// Other compilers and processors must get the same numbers, so that results can be reproduced.
TEST(CellNoise, NumbersAreTheSameEverywhere) {
  CellNoise noise(noise_of(50, 20), 3);
  const Sums sums = telling_sums(noise);
  EXPECT_EQ(Sums(sums.begin(), sums.begin() + 8), Sums({374, 181, 126, 44, -124, -55, -52, 250}));
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0), 2965);
}

TEST(CellNoise, WritingAgainDrawsAgainAndReadingDoesNot) {
  CellNoise noise(noise_of(50, 20), 0);
  program_pattern(noise);
  const Sums all = sums_of(noise, driven_rows());
  const Sums row_3 = sums_of(noise, {8, 0, 0});
  EXPECT_EQ(sums_of(noise, driven_rows()), all);
  Words held(2);
  noise.program(3, 40, pattern(3), held);
  const Sums rewritten = sums_of(noise, {8, 0, 0});
  for (std::size_t c = 40; c < columns; ++c)
    EXPECT_EQ(rewritten[c], row_3[c]) << "column " << c << " was not written";
  int changed = 0;
  for (std::size_t c = 0; c < 40; ++c)
    changed += rewritten[c] != row_3[c] ? 1 : 0;
  EXPECT_GT(changed, 20);
}

// Sums of one row of ones, in units of 1/1000 of the deviation, show the normal distribution.
TEST(CellNoise, ConductancesAreNormal) {
  CellNoise noise(noise_of(1000, 0), 0);
  double total = 0;
  double squares = 0;
  double fourths = 0;
  double product = 0;
  double beyond_three = 0;
  constexpr int repeats = 5000;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Words held(2);
    noise.program(0, columns, Words(2, every_bit), held);
    const Sums sums = sums_of(noise, {1, 0, 0});
    double before = 0;
    for (const std::int32_t sum : sums) {
      const double z = (sum - 1) / 1000.0;
      total += z;
      squares += z * z;
      fourths += z * z * z * z;
      product += z * before;
      beyond_three += std::abs(z) > 3 ? 1 : 0;
      before = z;
    }
  }
  constexpr double count = repeats * columns;
  const double unit = 1 / std::sqrt(count);  // standard deviation of the mean
  EXPECT_NEAR(total / count, 0, 4 * unit);
  EXPECT_NEAR(squares / count, 1, 4 * std::sqrt(2.0) * unit);
  EXPECT_NEAR(fourths / count, 3, 4 * std::sqrt(96.0) * unit);
  EXPECT_NEAR(product / count, 0, 4 * unit) << "neighbours depend on each other";
  EXPECT_NEAR(beyond_three / count, 0.0026998, 4 * std::sqrt(0.0027) * unit);
}

Parameters stuck_of(double at_0, double at_1) {
  Parameters parameters;
  parameters.stuck_at_0 = {at_0};
  parameters.stuck_at_1 = {at_1};
  return parameters;
}

Words held_of(CellNoise& noise, std::uint64_t bits) {
  Words all;
  for (std::size_t row = 0; row < 512; ++row) {
    Words held(8);
    noise.program(row, 512, Words(8, bits), held);
    all.insert(all.end(), held.begin(), held.end());
  }
  return all;
}

double ones_of(const Words& words) {
  double ones = 0;
  for (const std::uint64_t word : words)
    ones += std::popcount(word);
  return ones;
}

TEST(CellNoise, StuckCellsHoldTheirBit) {
  CellNoise noise(stuck_of(0.02, 0.005), 0);
  const Words at_1 = held_of(noise, 0);
  const Words not_at_0 = held_of(noise, every_bit);
  constexpr double cells = 512 * 512;
  EXPECT_NEAR(ones_of(at_1), 0.005 * cells, 4 * std::sqrt(0.005 * cells));
  EXPECT_NEAR(cells - ones_of(not_at_0), 0.02 * cells, 4 * std::sqrt(0.02 * cells));
  EXPECT_EQ(held_of(noise, 0), at_1) << "the same cells for good";
  EXPECT_EQ(held_of(noise, every_bit), not_at_0);
  for (std::size_t w = 0; w < at_1.size(); ++w)
    ASSERT_EQ(at_1[w] & ~not_at_0[w], 0U) << "a cell is stuck at both";
  CellNoise again(stuck_of(0.02, 0.005), 0);
  CellNoise neighbour(stuck_of(0.02, 0.005), 1);
  EXPECT_EQ(held_of(again, 0), at_1);
  EXPECT_NE(held_of(neighbour, 0), at_1);
}

TEST(CellNoise, AllCellsMayBeStuck) {
  CellNoise zeros(stuck_of(1, 0), 0);
  CellNoise ones(stuck_of(0, 1), 0);
  EXPECT_EQ(ones_of(held_of(zeros, every_bit)), 0);
  EXPECT_EQ(ones_of(held_of(ones, 0)), 512 * 512);
}

// Conductances follow the held bit, not the written one. Which cells are stuck does not depend on
// the variation.
TEST(CellNoise, SumsCountStuckCells) {
  Parameters parameters = stuck_of(0.1, 0.1);
  CellNoise bits(parameters, 9);
  const Words held = held_of(bits, 0xAAAAAAAAAAAAAAAA);
  parameters.variation = {1e-4};
  CellNoise noise(parameters, 9);
  EXPECT_EQ(held_of(noise, 0xAAAAAAAAAAAAAAAA), held);
  Sums expected(512);
  for (std::size_t cell = 0; cell < 512 * 512; ++cell)
    expected[cell % 512] += bit_of(held, cell) ? 1 : 0;
  EXPECT_EQ(sums_of(noise, Words(8, every_bit), 512), expected);
}

// A parameter file can specify this, so it must not be undefined behaviour.
TEST(CellNoise, SumsBeyondTheConverterStayFinite) {
  CellNoise noise(noise_of(1e30, 0), 0);
  program_pattern(noise);
  for (const std::int32_t sum : sums_of(noise, driven_rows()))
    EXPECT_TRUE(sum == 1 << 21 || sum == -(1 << 21)) << sum;
}

}  // namespace
}  // namespace calpe::reram
