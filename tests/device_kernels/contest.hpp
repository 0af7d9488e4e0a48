// SPDX-License-Identifier: Apache-2.0
// Compares the speed of functions by medians of rounds in which all of them run in turn. Measures
// CPU time of this process, so that other load matters less. Every round moves the stack, because
// its position relative to the data matters (a load waits for a store at a distance of 4 KiB).
#pragma once
#include <algorithm>
#include <alloca.h>
#include <cstddef>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace calpe::tests {

struct Contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> seconds = {};  // per round

  double median() const {
    std::vector<double> sorted = seconds;
    std::ranges::nth_element(sorted,
                             sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
    return sorted[sorted.size() / 2];
  }
};

inline double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// At least a millisecond each, so that the clock and a launch do not matter.
inline double timed(const std::function<void()>& run, std::size_t repeats, std::size_t pad_bytes) {
  volatile char* pad = static_cast<volatile char*>(alloca(pad_bytes));
  pad[0] = 0;
  const double start = cpu_seconds();
  for (std::size_t i = 0; i < repeats; ++i)
    run();
  return (cpu_seconds() - start) / static_cast<double>(repeats);
}

inline void hold_contest(std::vector<Contestant>& contestants, std::size_t rounds,
                         std::size_t repeats) {
  for (Contestant& each : contestants) {
    each.seconds.clear();
    timed(each.run, 2, 64);
  }
  for (std::size_t round = 0; round < rounds; ++round) {
    for (Contestant& each : contestants)
      each.seconds.push_back(timed(each.run, repeats, 64 + round % 16 * 272));
  }
}

}  // namespace calpe::tests
