// SPDX-License-Identifier: Apache-2.0
// Assertions against our own bugs, enabled in every build. Bad input is a Result instead.
#pragma once

namespace calpe {
// Prints the claim and aborts, because continuing could write wrong bytes.
[[noreturn]] void assertion_failed(const char* claim, const char* file, int line) noexcept;
}  // namespace calpe

#define CALPE_ASSERT(claim) \
  ((claim) ? static_cast<void>(0) : ::calpe::assertion_failed(#claim, __FILE__, __LINE__))

// For inner loops: only checked without NDEBUG.
#ifdef NDEBUG
#define CALPE_DEBUG_ASSERT(claim) static_cast<void>(0)
#else
#define CALPE_DEBUG_ASSERT(claim) CALPE_ASSERT(claim)
#endif
