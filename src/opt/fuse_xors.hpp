// SPDX-License-Identifier: Apache-2.0
// Undoes sharing that costs more than it saves on a device. With three-input XORs a sum of n terms
// takes n / 2 of them, so a pair shared by two or three sums may not pay. The same holds if every
// shared sum is written to memory. Such sums are merged back into their readers.
#pragma once
#include "opt/sums.hpp"

namespace calpe::opt {

// Repeats until dissolving no single shared sum gains, or is free for a sum with one reader. Terms
// that occur twice in a sum cancel. The price never grows.
void fuse_xors(Sums& sums, Price price);

}  // namespace calpe::opt
