// SPDX-License-Identifier: Apache-2.0
// Runs the operator's program for each event, one at a time, on a thread of its own: a slow program
// delays only the events that follow.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "array/service/event.hpp"

namespace calpe::array {

struct HookLimits {
  std::chrono::milliseconds run{60'000};   // then the program is killed
  std::chrono::milliseconds stop{10'000};  // for the events that are left at the end
  std::size_t events = 100;                // waiting; further ones are dropped
};

// Thread-safe, except the destructor.
class HookRunner {
 public:
  using Complain = std::function<void(const std::string& line)>;

  // Calls PROGRAM NAME MESSAGE with the environment variables CALPE_EVENT, CALPE_MESSAGE,
  // CALPE_LEVEL (warning or info), CALPE_ARRAY and, for events of a member, CALPE_MEMBER.
  // `complain` is called if the program cannot be run, fails or is too slow.
  HookRunner(std::string program, std::string array, Complain complain,
             const HookLimits& limits = {});
  ~HookRunner();
  HookRunner(const HookRunner&) = delete;
  HookRunner& operator=(const HookRunner&) = delete;

  void add(const Event& event);

 private:
  void work();
  void run(const Event& event);
  void wait_for_end(int process, const Event& event);

  const std::string program_;
  const std::string array_;
  const Complain complain_;
  const HookLimits limits_;
  std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  std::deque<Event> events_;
  bool is_ending_ = false;
  std::chrono::steady_clock::time_point end_ = {};  // of all work, once is_ending_
  std::thread thread_;
};

}  // namespace calpe::array
