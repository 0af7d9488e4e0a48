// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/threads.hpp"

#include "base/threads.hpp"

namespace calpe::bench {

LaneRunner::LaneRunner(std::size_t lane_count, Clock clock)
    : clock_(lane_count > 1 ? Clock::wall : clock), gate_(static_cast<std::ptrdiff_t>(lane_count)) {
  for (std::size_t lane = 1; lane < lane_count; ++lane)
    threads_.push_back(start_thread("calpe-bench", [this, lane] { work(lane); }));
}

LaneRunner::~LaneRunner() {
  lanes_ = nullptr;
  if (!threads_.empty()) gate_.arrive_and_wait();
  for (std::thread& thread : threads_)
    thread.join();
}

bool LaneRunner::run_lane(const Call& call, std::size_t calls) {
  bool is_good = true;
  for (std::size_t i = 0; i < calls; ++i)
    is_good &= call();
  return is_good;
}

void LaneRunner::work(std::size_t lane) {
  for (;;) {
    gate_.arrive_and_wait();
    if (lanes_ == nullptr) return;
    if (!run_lane((*lanes_)[lane], calls_)) is_good_ = false;
    gate_.arrive_and_wait();
  }
}

LaneResult LaneRunner::run(const std::vector<Call>& lanes, std::size_t calls) {
  // Other threads stay asleep at the first gate.
  if (lanes.size() == 1) {
    const double start = seconds_now(clock_);
    const bool is_good = run_lane(lanes[0], calls);
    return {seconds_now(clock_) - start, is_good};
  }
  lanes_ = &lanes;
  calls_ = calls;
  is_good_ = true;
  gate_.arrive_and_wait();
  const double start = seconds_now(clock_);
  if (!run_lane(lanes[0], calls)) is_good_ = false;
  gate_.arrive_and_wait();
  return {seconds_now(clock_) - start, is_good_};
}

}  // namespace calpe::bench
