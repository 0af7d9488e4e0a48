// SPDX-License-Identifier: Apache-2.0
// Collects log lines during its lifetime.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "base/log.hpp"

namespace calpe::tests {

class LogLines {
 public:
  LogLines() {
    logging::set_handler(
        [](const char* line, void* self) { static_cast<LogLines*>(self)->add(line); }, this);
  }
  ~LogLines() { logging::set_handler(nullptr, nullptr); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::size_t count() const { return lines().size(); }

 private:
  void add(const char* line) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace calpe::tests
