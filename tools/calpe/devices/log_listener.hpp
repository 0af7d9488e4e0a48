// SPDX-License-Identifier: Apache-2.0
// Collects the log lines of the library during its lifetime, to notice work that silently fell back
// to the CPU. One at a time.
#pragma once
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace calpe::tools {

class LogListener {
 public:
  LogListener();
  ~LogListener();
  LogListener(const LogListener&) = delete;
  LogListener& operator=(const LogListener&) = delete;

  // Lines that say that the CPU did a device's work go to `failures`, others to `remarks`. Only the
  // first few lines are kept.
  void add_to(std::vector<std::string>& failures, std::vector<std::string>& remarks);

 private:
  void hear(const char* line);

  std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace calpe::tools
