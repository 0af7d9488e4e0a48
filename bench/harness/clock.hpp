// SPDX-License-Identifier: Apache-2.0
// The two clocks of the harness.
#pragma once
#include <ctime>

namespace calpe::bench {

enum class Clock {
  // CPU time of this thread; preemption does not count.
  thread_cpu,
  // Wall time, for work spread over several threads.
  wall,
};

inline double seconds_now(Clock clock) noexcept {
  timespec now{};
  clock_gettime(clock == Clock::wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace calpe::bench
