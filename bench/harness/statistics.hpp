// SPDX-License-Identifier: Apache-2.0
// Statistics of samples: the best, and the spread of ratios within rounds.
#pragma once
#include <span>

namespace calpe::bench {

// Speed of Calpe relative to a peer, as peer time / our time.
struct RatioSummary {
  double best = 0;    // best round over best round; the main result
  double median = 0;  // of the ratios within rounds
  double p10 = 0;
  double p90 = 0;
};

// Interpolates linearly; fraction 0 is the minimum. samples must not be empty.
double quantile(std::span<const double> samples, double fraction);

// Sample i of both belongs to round i; both must have the same non-zero length.
RatioSummary summarize_ratio(std::span<const double> our_seconds,
                             std::span<const double> their_seconds);

}  // namespace calpe::bench
