// SPDX-License-Identifier: Apache-2.0
#include "reram/error_rates.hpp"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "code/families.hpp"

namespace calpe::reram {
namespace {

Parameters noise_of(double variation, double on_off_ratio) {
  Parameters parameters;
  parameters.variation = {variation};
  parameters.on_off_ratio = {on_off_ratio};
  return parameters;
}

gf::BitMatrix hybrid_bits(std::size_t data, std::size_t parity) {
  const auto field = *gf::Field::create(8, 0);
  return gf::expand(*field, code::hybrid_rows(*field, {.data = data, .parity = parity}));
}

TEST(ErrorRates, OffConductance) {
  EXPECT_EQ(off_conductance(noise_of(0.1, 20)), 0.05);
  EXPECT_EQ(off_conductance(noise_of(0.1, 0)), 0);
}

// The definition: the area under the bell curve of deviation s over (0.5, 1.5), (2.5, 3.5), ...
double integrated_rate(double s) {
  constexpr int steps = 40000;  // per band
  double area = 0;
  for (int band = 1; band - 0.5 < 12 * s; band += 2) {
    for (int i = 0; i < steps; ++i) {
      const double x = (band - 0.5 + (i + 0.5) / steps) / s;
      area += std::exp(-x * x / 2) / steps;
    }
  }
  return 2 * area / (s * std::sqrt(2 * std::numbers::pi));
}

TEST(ErrorRates, OneBitLineAgainstTheIntegral) {
  // One cell that is 1, so s is the variation; on both sides of 1, where the formula changes.
  for (const double s : {0.05, 0.1, 0.3, 0.5, 0.6, 0.99, 0.999999, 1.0, 1.01, 1.5, 3.0, 10.0}) {
    const double expected = integrated_rate(s);
    EXPECT_NEAR(bit_error_rate(noise_of(s, 0), 1, 0) / expected, 1, s < 0.3 ? 1e-5 : 1e-8) << s;
  }
  const double below = bit_error_rate(noise_of(1 - 1e-13, 0), 1, 0);
  EXPECT_NEAR(below, bit_error_rate(noise_of(1, 0), 1, 0), 1e-12);
}

TEST(ErrorRates, OneBitLineInTheTails) {
  // 2 * Q(z) by its asymptotic series, accurate to 1e-3 for z >= 10.
  for (const double z : {10.0, 15.0, 25.0, 35.0}) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double tails = 2 * density / z * (1 - 1 / (z * z) + 3 / (z * z * z * z));
    EXPECT_NEAR(bit_error_rate(noise_of(0.5 / z, 0), 1, 0) / tails, 1, 1e-3) << z;
  }
}

TEST(ErrorRates, DeviationOfOnesAndZeros) {
  const Parameters reference = noise_of(1, 0);
  const auto rate_at = [&](double s) { return bit_error_rate(noise_of(s, 0), 1, 0); };
  EXPECT_EQ(bit_error_rate(noise_of(0.1, 0), 9, 1000), bit_error_rate(noise_of(0.1, 0), 9, 0));
  EXPECT_NEAR(bit_error_rate(noise_of(0.1, 0), 9, 0) / rate_at(0.3), 1, 1e-12);
  // on_off_ratio 2: 5 + 16 / 4 = 9 and 1 - g = 1 / 2.
  EXPECT_NEAR(bit_error_rate(noise_of(0.1, 2), 5, 16) / rate_at(0.6), 1, 1e-12);
  EXPECT_NEAR(bit_error_rate(noise_of(0.1, 2), 0, 36) / rate_at(0.6), 1, 1e-12);
  EXPECT_EQ(bit_error_rate(noise_of(0, 20), 500, 0), 0);
  EXPECT_EQ(bit_error_rate(noise_of(0.1, 20), 0, 0), 0);
  EXPECT_EQ(bit_error_rate(noise_of(0.001, 0), 100, 0), 0) << "less than any double";
  EXPECT_DOUBLE_EQ(bit_error_rate(reference, 1000000, 0), 0.5) << "a coin";
  EXPECT_EQ(bit_error_rate(noise_of(0.1, 1), 1, 0), 0.5) << "zeros are like ones";
}

gf::BitMatrix small_matrix() {
  gf::BitMatrix matrix(4, 7);
  for (const auto& [row, column] : {std::pair{0, 0},
                                    {0, 3},
                                    {1, 1},
                                    {1, 2},
                                    {1, 4},
                                    {1, 5},
                                    {1, 6},
                                    {3, 0},
                                    {3, 1},
                                    {3, 2},
                                    {3, 3},
                                    {3, 4},
                                    {3, 5},
                                    {3, 6}})
    matrix.flip(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
  return matrix;  // weights 2, 5, 0 and 7
}

TEST(ErrorRates, MatrixAgainstEveryInput) {
  const gf::BitMatrix matrix = small_matrix();
  for (const Parameters& noise : {noise_of(0.1, 2), noise_of(0.05, 20), noise_of(0.3, 0)}) {
    double total = 0;
    double simple = 0;
    for (std::uint64_t input = 0; input < 128; ++input) {
      for (std::size_t row = 0; row < 4; ++row) {
        const auto on = static_cast<std::size_t>(std::popcount(input & matrix.row(row)[0]));
        const auto off = static_cast<std::size_t>(std::popcount(input)) - on;
        total += bit_error_rate(noise, on, off);
        const double margin = 0.5 * (1 - off_conductance(noise)) / noise.variation.value;
        if (on > 0) simple += std::erfc(margin / std::sqrt(2.0 * static_cast<double>(on)));
      }
    }
    EXPECT_NEAR(bit_error_rate(noise, matrix) / (total / 512), 1, 1e-12);
    EXPECT_NEAR(simple_bit_error_rate(noise, matrix) / (simple / 512), 1, 1e-12);
  }
  EXPECT_EQ(bit_error_rate(noise_of(0, 20), matrix), 0);
  EXPECT_EQ(simple_bit_error_rate(noise_of(0, 20), matrix), 0);
  EXPECT_EQ(bit_error_rate(noise_of(0.1, 20), gf::BitMatrix(0, 0)), 0);
}

// 2^-2000 underflows a double.
TEST(ErrorRates, WideMatrix) {
  gf::BitMatrix matrix(1, 2000);
  for (std::size_t c = 0; c < 2000; ++c)
    matrix.flip(0, c);
  EXPECT_NEAR(bit_error_rate(noise_of(1, 0), matrix), 0.5, 1e-12);
  const Parameters noise = noise_of(0.01, 0);
  EXPECT_NEAR(bit_error_rate(noise, matrix), bit_error_rate(noise, 1000, 0), 3e-3);
}

// Independent results of the project's research, to one digit. They exclude the eight rows of the
// first parity shard, of 32, which rarely err.
TEST(ErrorRates, ValuesOfTheResearch) {
  const auto rate = [](double variation, std::size_t data) {
    return bit_error_rate(noise_of(variation, 20), hybrid_bits(data, 4));
  };
  EXPECT_EQ(active_rows_for(noise_of(0.01, 20), 1e-15), 35U);
  EXPECT_NEAR(std::log10(rate(0.01, 10)), std::log10(2e-20), 0.3);
  EXPECT_NEAR(std::log10(rate(0.01, 20)), std::log10(1e-12), 0.5);
  EXPECT_NEAR(rate(0.03, 10) * 32 / 24, 6e-4, 1e-4);
  EXPECT_NEAR(rate(0.03, 20) * 32 / 24, 1e-2, 5e-3);
  EXPECT_NEAR(rate(0.03, 40) * 32 / 24, 8e-2, 1e-2);
}

TEST(ErrorRates, ActiveRowsJustMeetTheTarget) {
  for (const double variation : {0.005, 0.01, 0.03, 0.1}) {
    for (const double target : {1e-20, 1e-15, 1e-6, 1e-2, 0.4}) {
      const Parameters noise = noise_of(variation, 20);
      const std::size_t rows = active_rows_for(noise, target);
      EXPECT_LE(bit_error_rate(noise, rows, 0), target);
      EXPECT_GT(bit_error_rate(noise, rows + 1, 0), target);
    }
  }
}

TEST(ErrorRates, ActiveRowsFallWithVariationAndRiseWithTheTarget) {
  std::size_t previous = std::size_t{1} << 20;
  for (const double variation : {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1}) {
    const std::size_t rows = active_rows_for(noise_of(variation, 20), 1e-9);
    EXPECT_LT(rows, previous) << variation;
    previous = rows;
  }
  previous = 0;
  for (const double target : {1e-30, 1e-15, 1e-9, 1e-6, 1e-3, 0.1}) {
    const std::size_t rows = active_rows_for(noise_of(0.01, 20), target);
    EXPECT_GT(rows, previous) << target;
    previous = rows;
  }
  EXPECT_LT(active_rows_for(noise_of(0.01, 2), 1e-9), active_rows_for(noise_of(0.01, 20), 1e-9));
}

TEST(ErrorRates, ActiveRowsAtTheEnds) {
  EXPECT_EQ(active_rows_for(noise_of(0.5, 20), 1e-15), 0U) << "one is too many";
  EXPECT_EQ(active_rows_for(noise_of(0, 20), 0), std::size_t{1} << 20);
  EXPECT_EQ(active_rows_for(noise_of(0.1, 20), 0.5), std::size_t{1} << 20);
}

}  // namespace
}  // namespace calpe::reram
