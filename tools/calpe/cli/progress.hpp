// SPDX-License-Identifier: Apache-2.0
// The line on the terminal that shows what a command is doing: a bar while bytes are counted, else
// the time since the start.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace calpe::tools {

// Shows nothing when standard error is not a terminal, and removes its line at the end. A terminal
// that goes away does no harm: the command continues without a line. Any thread may call say(),
// update() and clear().
class Progress {
 public:
  enum class Drawing {
    by_thread,  // a thread draws, which also shows that work has stalled
    by_say,     // say() draws; no thread of its own disturbs a measurement
  };

  explicit Progress(std::string what, Drawing drawing = Drawing::by_thread);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(std::string what);
  // States that `done` bytes were done before the start, so that the rate leaves them out.
  void resume(std::uint64_t done) noexcept { resumed_ = done; }
  // Draws a bar from now on. all = 0: not known.
  void update(std::uint64_t done, std::uint64_t all) noexcept;
  void clear();  // before something else is written to the terminal
  void end();    // clear(), and draw nothing more

 private:
  void tick();
  void show(const std::string& line);
  void write(const std::string& text) noexcept;

  const Drawing drawing_;
  std::atomic<bool> is_terminal_;  // until it goes away
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> all_ = 0;
  std::atomic<std::uint64_t> resumed_ = 0;
  std::atomic<bool> has_count_ = false;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::string what_;
  bool is_over_ = false;
  bool is_shown_ = false;
  std::thread ticker_;
};

}  // namespace calpe::tools
