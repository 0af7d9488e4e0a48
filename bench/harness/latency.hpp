// SPDX-License-Identifier: Apache-2.0
// How long single calls take: not the best of many, but the spread that a caller meets.
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
  // Seconds of wall time: being preempted counts here, as it does for the caller.
  double best = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double p999 = 0;  // 0 with fewer than latency_calls_p999 calls
  double worst = 0;
  std::vector<std::pair<double, double>> cdf;  // seconds, and the part of calls that took no longer
};

// Below that, the thousandth is the worst call and nothing else.
inline constexpr std::size_t latency_calls_p999 = 2000;

// Every call of every contestant's first lane is timed by itself, in turns of a few calls, the
// first of a turn left out. About so many seconds together. Fails with device_failed when a call
// reports an error.
Result<std::vector<Latency>> measure_latencies(const std::vector<Contestant>& contestants,
                                               double seconds);

// From seconds of single calls; there must be some.
Latency summarize_latency(std::vector<double> seconds);

}  // namespace calpe::bench
