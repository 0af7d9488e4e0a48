// SPDX-License-Identifier: Apache-2.0
#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace calpe {

void assertion_failed(const char* claim, const char* file, int line) noexcept {
  std::fprintf(stderr, "calpe: internal error: %s does not hold (%s:%d)\n", claim, file, line);
  std::abort();
}

}  // namespace calpe
