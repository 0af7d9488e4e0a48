// SPDX-License-Identifier: Apache-2.0
// Sharing at the device's price: with three-input XORs a sum of n terms takes n / 2 of them, so a
// shared pair that only two or three sums read may cost more than it saves; likewise where every
// shared sum is written to memory. Such sums are put back into their readers.
#pragma once
#include "opt/sums.hpp"

namespace calpe::opt {

// Until no single shared sum can be dissolved for a gain, or for nothing where it has one reader.
// Terms that meet twice in a sum cancel. Never at a higher price than before.
void fuse_xors(Sums& sums, Price price);

}  // namespace calpe::opt
