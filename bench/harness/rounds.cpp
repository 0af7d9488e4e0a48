// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/rounds.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "bench/harness/threads.hpp"

namespace calpe::bench {

namespace {

// Number of calls that fill a slice, found by doubling until a probe is long enough.
std::size_t calls_per_slice(LaneRunner& runner, const std::vector<Call>& lanes,
                            const RoundOptions& options) {
  constexpr double probe_seconds = 2e-4;
  static_cast<void>(runner.run(lanes, 1));  // warm up tables, pages and caches
  std::size_t calls = 1;
  double seconds = runner.run(lanes, calls).seconds;
  while (seconds < probe_seconds && calls < (std::size_t{1} << 24)) {
    calls *= 2;
    seconds = runner.run(lanes, calls).seconds;
  }
  const double wanted = options.slice_seconds / seconds * static_cast<double>(calls);
  return std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
}

}  // namespace

Result<std::vector<Samples>> run_rounds(const std::vector<Contestant>& contestants,
                                        const RoundOptions& options) {
  const double deadline = seconds_now(Clock::wall) + options.seconds;
  std::size_t lane_count = 1;
  for (const Contestant& contestant : contestants)
    lane_count = std::max(lane_count, contestant.lanes.size());
  LaneRunner runner(lane_count, options.clock);
  std::vector<std::size_t> calls;
  calls.reserve(contestants.size());
  for (const Contestant& contestant : contestants)
    calls.push_back(calls_per_slice(runner, contestant.lanes, options));

  std::vector<Samples> samples(contestants.size());
  std::vector<std::size_t> order(contestants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  for (unsigned round = 0;; ++round) {
    const bool is_enough = options.rounds > 0
                               ? round >= options.rounds
                               : round >= rounds_min && seconds_now(Clock::wall) >= deadline;
    if (is_enough) break;
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t c : order) {
      const LaneResult warm_up = runner.run(contestants[c].lanes, 1);
      const LaneResult slice = runner.run(contestants[c].lanes, calls[c]);
      if (!warm_up.is_good || !slice.is_good) {
        return Error{ErrorCode::device_failed, contestants[c].name + " failed while being timed"};
      }
      samples[c].push_back(slice.seconds / static_cast<double>(calls[c]));
    }
  }
  return samples;
}

}  // namespace calpe::bench
