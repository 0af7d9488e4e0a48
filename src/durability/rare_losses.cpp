// SPDX-License-Identifier: Apache-2.0
#include "durability/rare_losses.hpp"

#include <algorithm>
#include <cmath>

#include "durability/random_numbers.hpp"

namespace calpe::durability {

namespace {

constexpr double frequent = 0.1;  // more likely failures need no biasing
constexpr double quantile_95 = 1.959964;
// Ends a cycle of a pool's chain whose weight no longer matters.
constexpr double weight_min = 1e-280;

// Uses long double, because squares of 1e-200 underflow a double.
struct Moments {
  long double sum = 0;
  long double squares = 0;
  void add(double value) {
    sum += value;
    squares += static_cast<long double>(value) * value;
  }
  double relative_variance(double count) const {
    return std::max(0.0, double(squares / sum * count / sum) - 1) / count;
  }
};

// Failures in a row before one can be fatal.
double climb_of(const LossChain& chain) {
  std::size_t state = 0;
  while (chain.fatal[state] == 0)
    ++state;
  return double(std::max<std::size_t>(state, 1));
}

// Biased probability of a failure. m/(m+1) lets 1/e of all cycles climb straight to m+1 losses. If
// failures are likely anyway, it would make the weights of long paths vary without bound.
double biased_chance(double natural, double climb) {
  return natural > frequent ? std::max(natural, 0.5) : std::max(0.5, climb / (climb + 1));
}

// Expected loss of one cycle, as a weighted probability. A loss that only some failures cause is
// not drawn: its share is counted, and the cycle continues with the rest.
double sample_loss(const LossChain& chain, double climb, RandomNumbers& random) {
  double loss = chain.fatal[0];
  double weight = 1 - chain.fatal[0];
  std::size_t state = 1;
  while (state > 0 && weight > weight_min) {
    const double natural = chain.up[state] / (chain.up[state] + chain.down[state]);
    const double biased = biased_chance(natural, climb);
    if (random.unit() < biased) {
      weight *= natural / biased;
      loss += weight * chain.fatal[state];
      weight *= 1 - chain.fatal[state];
      ++state;  // after the last state the weight is 0
    } else {
      weight *= (1 - natural) / (1 - biased);
      --state;
    }
  }
  return loss;
}

// Expected hours of an unbiased cycle; uses the mean of each stay to reduce the variance.
double sample_hours(const LossChain& chain, RandomNumbers& random) {
  double hours = 1 / chain.up[0];
  if (random.unit() < chain.fatal[0]) return hours;
  for (std::size_t state = 1; state > 0;) {
    const double leave = chain.up[state] + chain.down[state];
    hours += 1 / leave;
    if (random.unit() * leave >= chain.up[state]) {
      --state;
    } else if (random.unit() < chain.fatal[state]) {
      break;
    } else {
      ++state;
    }
  }
  return hours;
}

}  // namespace

Sampled sample_rare_losses(const LossChain& chain, std::uint64_t cycles, std::uint64_t seed) {
  if (chain.up[0] == 0 || cycles == 0) return {0, 0, 0, cycles};
  RandomNumbers random(seed);
  const double climb = climb_of(chain);
  Moments losses;
  Moments hours;
  for (std::uint64_t i = 0; i < cycles; ++i) {
    losses.add(sample_loss(chain, climb, random));
    hours.add(sample_hours(chain, random));
  }
  const auto count = double(cycles);
  const double rate = double(losses.sum / hours.sum) * hours_per_year;
  if (losses.sum == 0) return {0, 0, 0, cycles};
  const double error =
      quantile_95 * std::sqrt(losses.relative_variance(count) + hours.relative_variance(count));
  return {rate, std::max(0.0, rate * (1 - error)), rate * (1 + error), cycles};
}

}  // namespace calpe::durability
