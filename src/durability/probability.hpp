// SPDX-License-Identifier: Apache-2.0
// Probabilities from 1 down to 1e-300, without cancellation.
#pragma once
#include <cmath>
#include <limits>

namespace calpe::durability {

inline constexpr double log_zero = -std::numeric_limits<double>::infinity();

// ln(e^a + e^b)
inline double log_add(double a, double b) {
  const double larger = a > b ? a : b;
  const double smaller = a > b ? b : a;
  return larger == log_zero ? log_zero : larger + std::log1p(std::exp(smaller - larger));
}

// 1 - (1 - p)^count
inline double at_least_once(double p, double count) {
  return p >= 1 ? (count > 0 ? 1.0 : 0.0) : -std::expm1(count * std::log1p(-p));
}

// Probability of at least one event in `time` at `rate` per unit of time.
inline double within(double rate, double time) {
  return -std::expm1(-rate * time);
}

inline double log_choose(double n, double r) {
  return std::lgamma(n + 1) - std::lgamma(r + 1) - std::lgamma(n - r + 1);
}

// P[Bin(n, p) = j]
inline double binomial(unsigned n, unsigned j, double p) {
  if (p <= 0) return j == 0 ? 1 : 0;
  if (p >= 1) return j == n ? 1 : 0;
  return std::exp(log_choose(n, j) + j * std::log(p) + (n - j) * std::log1p(-p));
}

}  // namespace calpe::durability
