// SPDX-License-Identifier: Apache-2.0
// Sharing counted in instructions: with three-input XORs a sum of n terms takes n / 2, so a shared
// pair that only two or three sums read may cost more than it saves. Such sums are put back into
// their readers.
#pragma once
#include "opt/sums.hpp"

namespace calpe::opt {

// Until no single shared sum can be dissolved for a gain, or for nothing where it has one reader.
// Terms that meet twice in a sum cancel. Never more instructions than before.
void fuse_xors(Sums& sums, bool three_input_xor);

std::size_t instructions_of(const Sums& sums, bool three_input_xor);

}  // namespace calpe::opt
