// SPDX-License-Identifier: Apache-2.0
// Times contestants against each other: short slices in turn, so that a disturbance of the machine
// meets all of them and the best slices of all are from equally good moments.
#pragma once
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "bench/harness/clock.hpp"
#include "bench/harness/coder.hpp"

namespace calpe::bench {

struct Contestant {
  std::string name;
  // One per thread, each with stripes of its own: as many as the others have, or one.
  std::vector<Call> lanes;
};

using Samples = std::vector<double>;  // seconds per call, one per round

struct RoundOptions {
  unsigned rounds = 0;              // 0: as many as fit into `seconds`, at least rounds_min
  double seconds = 1;               // wall time for all rounds together
  double slice_seconds = 1.25e-3;   // long against the clock's cost, short against a time slice
  Clock clock = Clock::thread_cpu;  // wall for all when somebody has more than one lane
};

inline constexpr unsigned rounds_min = 3;

// result[c][r] belongs to contestant c in round r; with several lanes it is the time in which each
// lane makes one call. Every slice starts with one call that is not timed; the order is drawn anew
// for each round, so nobody always inherits the caches from the same neighbour. Fails with
// device_failed when a call reports an error.
Result<std::vector<Samples>> run_rounds(const std::vector<Contestant>& contestants,
                                        const RoundOptions& options);

}  // namespace calpe::bench
