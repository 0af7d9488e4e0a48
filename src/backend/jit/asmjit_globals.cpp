// SPDX-License-Identifier: Apache-2.0
// Replaces the three AsmJit functions that print messages. Debian's libasmjit.a is not compiled for
// shared libraries, and only these functions prevent linking it: they use stderr, whose address is
// not relocatable there. With these definitions the linker skips the originals, and the library
// prints nothing.
#include <asmjit/core/globals.h>

#include "base/assert.hpp"

ASMJIT_BEGIN_NAMESPACE

const char* DebugUtils::errorAsString(Error error) noexcept {
  return error == kErrorOk ? "Ok" : "AsmJit could not encode the program";
}

void DebugUtils::debugOutput(const char*) noexcept {}

void DebugUtils::assertionFailed(const char*, int, const char*) noexcept {
  CALPE_ASSERT(false);
  __builtin_trap();
}

ASMJIT_END_NAMESPACE
