// SPDX-License-Identifier: Apache-2.0
// A progress bar for work counted in bytes: percentage, rate and time left.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace calpe::tools {

// Shows nothing if standard error is not a terminal, or during the first 250 ms. Its own thread
// draws it, so stalled work is visible. end() or the destructor removes the line.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Thread-safe. all = 0 if the total is unknown.
  void update(std::uint64_t done, std::uint64_t all) noexcept;
  void end();  // call before writing anything else to the terminal

 private:
  void tick();

  std::string what_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> all_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  bool is_shown_ = false;
  std::thread ticker_;
};

struct ProgressState {
  std::uint64_t done = 0;
  std::uint64_t all = 0;  // 0 if unknown
  double seconds = 0;     // since the start
};

// "protecting photos  [####......]  42 %  310 MB/s  0:13 left", at most `columns` wide.
std::string bar_line(const std::string& what, const ProgressState& state, std::size_t columns);

// "1.2 GB", powers of 1,000.
std::string bytes_text(std::uint64_t bytes);

}  // namespace calpe::tools
