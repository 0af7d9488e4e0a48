// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/latency.hpp"

#include <algorithm>
#include <random>

#include "bench/harness/statistics.hpp"

namespace calpe::bench {

namespace {

constexpr std::size_t calls_per_turn = 32;
constexpr std::size_t calls_max = 200'000;  // per contestant
constexpr std::size_t turns_min = 4;

// Sample points of a CDF: regular steps in the middle, denser towards both ends.
constexpr double cdf_fractions[] = {0,    0.001, 0.01,  0.02,  0.05,  0.1,   0.15,   0.2,    0.25,
                                    0.3,  0.35,  0.4,   0.45,  0.5,   0.55,  0.6,    0.65,   0.7,
                                    0.75, 0.8,   0.85,  0.9,   0.93,  0.95,  0.97,   0.98,   0.985,
                                    0.99, 0.993, 0.995, 0.997, 0.998, 0.999, 0.9995, 0.9999, 1};

}  // namespace

Latency summarize_latency(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double fraction) { return quantile(seconds, fraction); };
  Latency latency;
  latency.calls = seconds.size();
  latency.best = seconds.front();
  latency.worst = seconds.back();
  latency.p50 = at(0.5);
  latency.p90 = at(0.9);
  latency.p99 = at(0.99);
  if (seconds.size() >= latency_calls_p999) latency.p999 = at(0.999);
  for (const double fraction : cdf_fractions) {
    // Skip points that are closer to the end than one call.
    const double rest = (1 - fraction) * static_cast<double>(seconds.size());
    if (fraction == 1 || rest >= 1) latency.cdf.emplace_back(at(fraction), fraction);
  }
  return latency;
}

Result<std::vector<Latency>> measure_latencies(const std::vector<Contestant>& contestants,
                                               double seconds) {
  std::vector<std::vector<double>> samples(contestants.size());
  std::vector<std::size_t> order(contestants.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::mt19937 random(1);
  const double deadline = seconds_now(Clock::wall) + seconds;
  for (std::size_t turn = 0; turn < turns_min || seconds_now(Clock::wall) < deadline; ++turn) {
    if (samples.empty() || samples.front().size() >= calls_max) break;
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t c : order) {
      const Call& call = contestants[c].lanes.front();
      bool is_good = call();  // untimed: refills the caches after the previous contestant
      double before = seconds_now(Clock::wall);
      for (std::size_t i = 0; i < calls_per_turn; ++i) {
        is_good &= call();
        const double now = seconds_now(Clock::wall);
        samples[c].push_back(now - before);
        before = now;
      }
      if (!is_good) {
        return Error{ErrorCode::device_failed, contestants[c].name + " failed while being timed"};
      }
    }
  }
  std::vector<Latency> latencies;
  for (std::size_t c = 0; c < contestants.size(); ++c) {
    latencies.push_back(summarize_latency(std::move(samples[c])));
    latencies.back().name = contestants[c].name;
  }
  return latencies;
}

}  // namespace calpe::bench
