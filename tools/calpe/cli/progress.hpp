// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that says what is being done and for how long, while nothing else can.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace calpe::tools {

// Nothing is shown when standard error is no terminal, nor in the first second. The line is
// removed at the end.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(std::string what);  // from any thread
  void clear();                // before something else is written to standard error

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
