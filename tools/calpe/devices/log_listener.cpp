// SPDX-License-Identifier: Apache-2.0
#include "calpe/devices/log_listener.hpp"

#include <string_view>

#include "base/log.hpp"

namespace calpe::tools {

namespace {

constexpr std::size_t lines_max = 5;

bool has(const std::string& line, std::string_view words) {
  return line.find(words) != std::string::npos;
}

}  // namespace

LogListener::LogListener() {
  logging::set_handler(
      [](const char* line, void* self) { static_cast<LogListener*>(self)->hear(line); }, this);
}

LogListener::~LogListener() {
  logging::set_handler(nullptr, nullptr);
}

void LogListener::add_to(std::vector<std::string>& failures, std::vector<std::string>& remarks) {
  const std::scoped_lock lock(mutex_);
  for (const std::string& line : lines_) {
    // Work that fell back to the CPU says nothing about the device, so it counts as a failure,
    // unless a kernel was only too large to compile.
    const bool is_disabled = has(line, "failed and is disabled");
    const bool is_refused =
        has(line, "cannot compile a kernel") && !has(line, "terms; expected at most");
    (is_disabled || is_refused ? failures : remarks).push_back(line);
  }
}

void LogListener::hear(const char* line) {
  const std::scoped_lock lock(mutex_);
  if (lines_.size() < lines_max) lines_.emplace_back(line);
}

}  // namespace calpe::tools
