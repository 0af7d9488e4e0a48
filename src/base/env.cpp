// SPDX-License-Identifier: Apache-2.0
#include "base/env.hpp"

#include <cstdlib>

namespace calpe {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<std::string> environment_or_empty(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace calpe
