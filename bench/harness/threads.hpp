// SPDX-License-Identifier: Apache-2.0
// Runs one slice: the same number of calls on every lane, each lane on its own thread.
#pragma once
#include <atomic>
#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

#include "bench/harness/clock.hpp"
#include "bench/harness/coder.hpp"

namespace calpe::bench {

struct LaneResult {
  double seconds = 0;
  bool is_good = true;
};

// Keeps its threads between slices. Lane 0 is the calling thread, so one lane needs no threads.
class LaneRunner {
 public:
  LaneRunner(std::size_t lane_count, Clock clock);
  LaneRunner(const LaneRunner&) = delete;
  LaneRunner& operator=(const LaneRunner&) = delete;
  ~LaneRunner();

  // The number of lanes must be lane_count, or one for the calling thread only. Seconds count from
  // the common start to the end of the last lane.
  LaneResult run(const std::vector<Call>& lanes, std::size_t calls);

 private:
  void work(std::size_t lane);
  static bool run_lane(const Call& call, std::size_t calls);

  Clock clock_;
  std::barrier<> gate_;
  const std::vector<Call>* lanes_ = nullptr;  // null = threads end at the next gate
  std::size_t calls_ = 0;
  std::atomic<bool> is_good_ = true;
  std::vector<std::thread> threads_;
};

}  // namespace calpe::bench
