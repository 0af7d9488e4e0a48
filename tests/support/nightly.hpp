// SPDX-License-Identifier: Apache-2.0
// Cases of the nightly run only: larger counts, and tests that may fail on a busy machine.
#pragma once
#include <cstdlib>

namespace calpe::tests {

inline bool is_nightly() {
  const char* const value = std::getenv("CALPE_NIGHTLY");
  return value != nullptr && *value != '\0' && !(value[0] == '0' && value[1] == '\0');
}

}  // namespace calpe::tests
