// SPDX-License-Identifier: Apache-2.0
// Assertions for our own bugs, on in every build. Never for input: that is a Result.
#pragma once

namespace calpe {
// Prints the claim and aborts: continuing could write wrong bytes.
[[noreturn]] void assertion_failed(const char* claim, const char* file, int line) noexcept;
}  // namespace calpe

#define CALPE_ASSERT(claim) \
  ((claim) ? static_cast<void>(0) : ::calpe::assertion_failed(#claim, __FILE__, __LINE__))

// For inner loops: checked in builds without NDEBUG only.
#ifdef NDEBUG
#define CALPE_DEBUG_ASSERT(claim) static_cast<void>(0)
#else
#define CALPE_DEBUG_ASSERT(claim) CALPE_ASSERT(claim)
#endif
