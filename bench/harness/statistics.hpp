// SPDX-License-Identifier: Apache-2.0
// What is said about samples: the best, and how same-round ratios spread.
#pragma once
#include <span>

namespace calpe::bench {

// How much faster we are than somebody, all as their time / our time.
struct RatioSummary {
  double best = 0;    // best of all rounds against best of all rounds; this one decides
  double median = 0;  // of the ratios within a round, where both met the same disturbances
  double p10 = 0;
  double p90 = 0;
};

// Linear between neighbours; fraction 0 is the smallest. samples must not be empty.
double quantile(std::span<const double> samples, double fraction);

// Sample i of both belongs to round i; both must have the same, non-zero length.
RatioSummary summarize_ratio(std::span<const double> our_seconds,
                             std::span<const double> their_seconds);

}  // namespace calpe::bench
