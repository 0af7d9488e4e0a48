// SPDX-License-Identifier: Apache-2.0
#include "calpe/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace calpe::tools {

namespace {

constexpr std::chrono::seconds interval(1);

}  // namespace

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (isatty(STDERR_FILENO) == 1) ticker_ = std::thread([this] { tick(); });
}

Progress::~Progress() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  if (ticker_.joinable()) ticker_.join();
  clear();
}

void Progress::say(std::string what) {
  const std::scoped_lock lock(mutex_);
  what_ = std::move(what);
}

void Progress::clear() {
  const std::scoped_lock lock(mutex_);
  if (is_shown_) fmt::print(stderr, "\r\x1b[K");
  is_shown_ = false;
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval, [this] { return is_over_; })) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    fmt::print(stderr, "\r\x1b[K{}, {:.0f} s", what_, passed.count());
    is_shown_ = true;
  }
}

}  // namespace calpe::tools
