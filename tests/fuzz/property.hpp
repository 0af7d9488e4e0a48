// SPDX-License-Identifier: Apache-2.0
// Aborts with a message if a property does not hold, so that libFuzzer keeps the input.
#pragma once
#include <cstdio>
#include <cstdlib>

namespace calpe::fuzz {

inline void require(bool condition, const char* property) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", property);
  std::abort();
}

}  // namespace calpe::fuzz
