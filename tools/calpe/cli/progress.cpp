// SPDX-License-Identifier: Apache-2.0
#include "calpe/cli/progress.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/threads.hpp"
#include "calpe/cli/progress_bar.hpp"

namespace calpe::tools {

namespace {

constexpr std::chrono::milliseconds interval(250);
// Work without a count that is over by then shows no line.
constexpr double quiet_seconds = 1;

std::size_t terminal_columns() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

Progress::Progress(std::string what, Drawing drawing)
    : drawing_(drawing), is_terminal_(isatty(STDERR_FILENO) == 1), what_(std::move(what)) {
  if (!is_terminal_ || drawing != Drawing::by_thread) return;
  try {
    ticker_ = start_thread("calpe-progress", [this] { tick(); });
  } catch (const std::system_error&) {  // no thread available: work without a line
  }
}

Progress::~Progress() {
  end();
}

void Progress::say(std::string what) {
  const std::scoped_lock lock(mutex_);
  what_ = std::move(what);
  if (is_terminal_ && drawing_ == Drawing::by_say && !is_over_) show(what_);
}

void Progress::update(std::uint64_t done, std::uint64_t all) noexcept {
  done_.store(done, std::memory_order_relaxed);
  all_.store(all, std::memory_order_relaxed);
  has_count_.store(true, std::memory_order_relaxed);
}

void Progress::clear() {
  const std::scoped_lock lock(mutex_);
  if (is_shown_) write("\r\x1b[K");
  is_shown_ = false;
}

void Progress::end() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  if (ticker_.joinable()) ticker_.join();
  clear();
}

void Progress::show(const std::string& line) {
  // One column stays free: a terminal would begin a new line after the last.
  write("\r\x1b[K" + line.substr(0, terminal_columns() - 1));
  is_shown_ = true;
}

// Not by fmt, which throws when the terminal was closed.
void Progress::write(const std::string& text) noexcept {
  if (!is_terminal_) return;
  if (std::fputs(text.c_str(), stderr) < 0 || std::fflush(stderr) != 0) is_terminal_ = false;
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval, [this] { return is_over_ || !is_terminal_; })) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (has_count_) {
      const ProgressState state = {
          .done = done_, .all = all_, .resumed = resumed_, .seconds = passed.count()};
      show(bar_line(what_, state, terminal_columns() - 1));
    } else if (passed.count() >= quiet_seconds) {
      show(fmt::format("{}, {:.0f} s", what_, passed.count()));
    }
  }
}

}  // namespace calpe::tools
