// SPDX-License-Identifier: Apache-2.0
// Latency of single calls: the distribution that a caller sees.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <calpe/result.hpp>

#include "bench/harness/operation.hpp"
#include "bench/harness/rounds.hpp"

namespace calpe::bench {

struct Latency {
  std::string name;    // "calpe", "isal"
  std::string method;  // "cpu:avx512-gfni"
  std::size_t calls = 0;
  // Seconds of wall time, including preemption.
  double best = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double p999 = 0;  // 0 for fewer than latency_calls_p999 calls
  double worst = 0;
  std::vector<std::pair<double, double>> cdf;  // seconds, fraction of calls up to that time
};

// With fewer calls P99.9 would be just the worst call.
inline constexpr std::size_t latency_calls_p999 = 2000;

// Times every call of each contestant's first lane separately, in turns of a few calls; the first
// call of a turn does not count. Takes about `seconds` in total. Fails with device_failed if a call
// fails.
Result<std::vector<Latency>> measure_latencies(const std::vector<Contestant>& contestants,
                                               double seconds);

// From the seconds of single calls; must not be empty.
Latency summarize_latency(std::vector<double> seconds);

}  // namespace calpe::bench
