// SPDX-License-Identifier: Apache-2.0
// A terminal line that shows the current step and the elapsed time.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace calpe::tools {

// Shows nothing if standard error is not a terminal, or during the first second. The destructor
// removes the line.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(std::string what);  // thread-safe
  void clear();                // call before writing anything else to standard error

 private:
  void tick();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  bool is_over_ = false;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::thread ticker_;
};

}  // namespace calpe::tools
