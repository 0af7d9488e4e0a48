// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace calpe::bench {

double quantile(std::span<const double> samples, double fraction) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

RatioSummary summarize_ratio(std::span<const double> our_seconds,
                             std::span<const double> their_seconds) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < our_seconds.size(); ++i)
    ratios.push_back(their_seconds[i] / our_seconds[i]);
  RatioSummary summary;
  summary.best = quantile(their_seconds, 0) / quantile(our_seconds, 0);
  summary.median = quantile(ratios, 0.5);
  summary.p10 = quantile(ratios, 0.1);
  summary.p90 = quantile(ratios, 0.9);
  return summary;
}

}  // namespace calpe::bench
