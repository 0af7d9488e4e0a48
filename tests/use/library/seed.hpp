// SPDX-License-Identifier: Apache-2.0
// Seed of random choices: CALPE_TEST_SEED, or a constant.
#pragma once
#include <cstdint>
#include <cstdlib>

namespace calpe::use {

inline std::uint32_t seed() {
  const char* const text = std::getenv("CALPE_TEST_SEED");
  return text == nullptr ? 1 : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace calpe::use
