// SPDX-License-Identifier: Apache-2.0
// AsmJit's three functions that talk to a person. Debian's libasmjit.a is not compiled for shared
// libraries, and these alone stand in the way: they print to stderr, whose address is then not
// relocatable. Defined here, the archive's own are left out; and the library prints nothing.
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
