// SPDX-License-Identifier: Apache-2.0
// What runs only at night: long counts, and what a busy machine could make fail.
#pragma once
#include <cstdlib>

namespace calpe::tests {

inline bool is_nightly() {
  const char* const value = std::getenv("CALPE_NIGHTLY");
  return value != nullptr && *value != '\0' && !(value[0] == '0' && value[1] == '\0');
}

}  // namespace calpe::tests
