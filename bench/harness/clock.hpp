// SPDX-License-Identifier: Apache-2.0
// The two clocks of the harness.
#pragma once
#include <ctime>

namespace calpe::bench {

enum class Clock {
  // Time that this thread ran: a neighbour that takes the core away does not count.
  thread_cpu,
  // For work that is spread over threads, where the caller's own time says nothing.
  wall,
};

inline double seconds_now(Clock clock) noexcept {
  timespec now{};
  clock_gettime(clock == Clock::wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace calpe::bench
