// SPDX-License-Identifier: Apache-2.0
#include "reram/error_rates.hpp"

#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

namespace calpe::reram {
namespace {

constexpr std::size_t rows_limit = std::size_t{1} << 20;

// 2 * Q(x): probability that a normal variable is beyond x on either side.
double two_tails(double x) {
  return std::erfc(x / std::numbers::sqrt2);
}

double deviation_of(const Parameters& noise, std::size_t ones, std::size_t zeros) {
  const double off = off_conductance(noise);
  const double squares = static_cast<double>(ones) + off * off * static_cast<double>(zeros);
  return noise.variation.value * std::sqrt(squares) / std::abs(1 - off);
}

// Probability that a normal variable of this deviation rounds to an odd number.
double odd_rate(double deviation) {
  if (!(deviation > 0)) return 0;
  if (deviation >= 1) {
    // The same sum by Poisson's formula: 1/2 - 2 / pi * the sum over odd j of +-exp(-(j * pi * s)^2
    // / 2) / j. The term j = 3 is below 1e-19 here.
    const double angle = std::numbers::pi * deviation;
    return 0.5 - 2 / std::numbers::pi * std::exp(-angle * angle / 2);
  }
  double rate = 0;
  double sign = 1;
  for (double edge = 0.5;; edge += 1, sign = -sign) {
    const double term = two_tails(edge / deviation);
    rate += sign * term;
    if (term <= rate * 1e-17) return rate;
  }
}

// Entry i: probability of i heads in `count` fair coin flips. Uses logarithms, because 2^-count may
// underflow.
std::vector<double> binomial(std::size_t count) {
  std::vector<double> chances(count + 1);
  const auto n = static_cast<double>(count);
  double log_chance = -n * std::numbers::ln2;
  for (std::size_t i = 0; i <= count; ++i) {
    chances[i] = std::exp(log_chance);
    log_chance += std::log((n - static_cast<double>(i)) / (static_cast<double>(i) + 1));
  }
  return chances;
}

std::size_t weight_of(const gf::BitMatrix& matrix, std::size_t row) {
  std::size_t ones = 0;
  for (const std::uint64_t word : matrix.row(row))
    ones += static_cast<std::size_t>(std::popcount(word));
  return ones;
}

// Mean of rate_of(ones in a row) over the rows; equal rows are computed once.
template <typename RateOf>
double mean_over_rows(const gf::BitMatrix& matrix, RateOf rate_of) {
  std::map<std::size_t, std::size_t> rows_of_weight;
  for (std::size_t row = 0; row < matrix.rows(); ++row)
    ++rows_of_weight[weight_of(matrix, row)];
  double total = 0;
  for (const auto& [weight, rows] : rows_of_weight)
    total += rate_of(weight) * static_cast<double>(rows);
  return matrix.rows() == 0 ? 0 : total / static_cast<double>(matrix.rows());
}

// Mean over the driven ones and zeros of a row with this many of them.
double mean_rate(const Parameters& noise, std::size_t ones, std::size_t zeros) {
  const std::vector<double> ones_chances = binomial(ones);
  // Zeros that do not conduct have no effect.
  const std::vector<double> zeros_chances = binomial(off_conductance(noise) > 0 ? zeros : 0);
  double total = 0;
  for (std::size_t on = 0; on < ones_chances.size(); ++on) {
    double given = 0;
    for (std::size_t off = 0; off < zeros_chances.size(); ++off)
      given += zeros_chances[off] * bit_error_rate(noise, on, off);
    total += ones_chances[on] * given;
  }
  return total;
}

double simple_mean_rate(const Parameters& noise, std::size_t ones) {
  const std::vector<double> chances = binomial(ones);
  double total = 0;
  for (std::size_t on = 0; on < chances.size(); ++on) {
    const double deviation = deviation_of(noise, on, 0);
    if (deviation > 0) total += chances[on] * two_tails(0.5 / deviation);
  }
  return total;
}

}  // namespace

double off_conductance(const Parameters& noise) noexcept {
  return noise.on_off_ratio.value > 0 ? 1 / noise.on_off_ratio.value : 0;
}

double bit_error_rate(const Parameters& noise, std::size_t ones, std::size_t zeros) {
  return odd_rate(deviation_of(noise, ones, zeros));
}

double bit_error_rate(const Parameters& noise, const gf::BitMatrix& matrix) {
  return mean_over_rows(matrix, [&](std::size_t weight) {
    return mean_rate(noise, weight, matrix.columns() - weight);
  });
}

double simple_bit_error_rate(const Parameters& noise, const gf::BitMatrix& matrix) {
  return mean_over_rows(matrix,
                        [&](std::size_t weight) { return simple_mean_rate(noise, weight); });
}

std::size_t active_rows_for(const Parameters& noise, double target) {
  std::size_t low = 0;  // meets the target, or none
  std::size_t high = rows_limit;
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (bit_error_rate(noise, middle, 0) <= target) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace calpe::reram
