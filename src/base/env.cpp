// SPDX-License-Identifier: Apache-2.0
#include "base/env.hpp"

#include "base/platform.hpp"

namespace calpe {

std::optional<std::string> environment(const char* name) {
  const char* value = platform::variable(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<std::string> environment_or_empty(const char* name) {
  const char* value = platform::variable(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string_view environment_view(const char* name) noexcept {
  const char* value = platform::variable(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool is_privileged() noexcept {
  return platform::is_privileged();
}

}  // namespace calpe
