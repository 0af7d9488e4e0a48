// SPDX-License-Identifier: Apache-2.0
// A bar on the terminal for work that is counted in bytes: part, rate, time left.
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

// Nothing is shown when standard error is no terminal, nor in the first moments. It is drawn by a
// thread of its own, so that work that stands still is seen to. The line is removed at the end.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // From any thread. all = 0: not known.
  void update(std::uint64_t done, std::uint64_t all) noexcept;
  void end();  // before something else is written to the terminal

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
  std::uint64_t all = 0;  // 0: not known
  double seconds = 0;     // since the start
};

// "protecting photos  [####......]  42 %  310 MB/s  0:13 left", at most `columns` wide.
std::string bar_line(const std::string& what, const ProgressState& state, std::size_t columns);

// "1.2 GB", powers of 1,000.
std::string bytes_text(std::uint64_t bytes);

}  // namespace calpe::tools
