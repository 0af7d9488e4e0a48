// SPDX-License-Identifier: Apache-2.0
// Crash states of operations on 4+2.
#include "array/crash_script.hpp"

namespace calpe::tests {
namespace {

TEST(ArrayCrash, FourPlusTwo) {
  run_crash_script({.data = 4, .parity = 2}, 29'000);
}

}  // namespace
}  // namespace calpe::tests
