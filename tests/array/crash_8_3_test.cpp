// SPDX-License-Identifier: Apache-2.0
// Crash states of operations on 8+3.
#include "array/crash_script.hpp"

namespace calpe::tests {
namespace {

TEST(ArrayCrash, EightPlusThree) {
  run_crash_script({.data = 8, .parity = 3}, 66'000);
}

}  // namespace
}  // namespace calpe::tests
