// SPDX-License-Identifier: Apache-2.0
// Crash states of operations on 10+4.
#include "array/crash_script.hpp"

namespace calpe::tests {
namespace {

TEST(ArrayCrash, TenPlusFour) {
  run_crash_script({.data = 10, .parity = 4, .chunk_bytes = 4096}, 118'000);
}

}  // namespace
}  // namespace calpe::tests
