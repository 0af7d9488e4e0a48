// SPDX-License-Identifier: Apache-2.0
// Times contestants in short interleaved slices, so that disturbances affect all of them and the
// best slices are comparable.
#pragma once
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "bench/harness/clock.hpp"
#include "bench/harness/coder.hpp"

namespace calpe::bench {

struct Contestant {
  std::string name;
  // One per thread, each with its own stripes; as many as the other contestants have, or one.
  std::vector<Call> lanes;
};

using Samples = std::vector<double>;  // seconds per call, one per round

struct RoundOptions {
  unsigned rounds = 0;              // 0 = as many as fit into `seconds`, at least rounds_min
  double seconds = 1;               // wall time for all rounds together
  double slice_seconds = 1.25e-3;   // much longer than a clock call, shorter than a time slice
  Clock clock = Clock::thread_cpu;  // wall if any contestant has more than one lane
};

inline constexpr unsigned rounds_min = 3;

// result[c][r] is the time of contestant c in round r; with several lanes, the time in which each
// lane makes one call. Every slice starts with one untimed call. The order is random in each round,
// so no contestant always runs after the same one. Fails with device_failed if a call fails.
Result<std::vector<Samples>> run_rounds(const std::vector<Contestant>& contestants,
                                        const RoundOptions& options);

}  // namespace calpe::bench
