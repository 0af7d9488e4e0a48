// SPDX-License-Identifier: Apache-2.0
// Sharing within chunks of inputs: what is shared between neighbours is needed for a short while
// only, so it stays in a register.
#pragma once
#include <cstddef>

#include "ir/linear_map.hpp"
#include "opt/pair_sharing.hpp"
#include "opt/sums.hpp"

namespace calpe::opt {

struct ChunkRules {
  std::size_t chunk_inputs = 1;  // so many neighbours share
  SharingRules sharing = {};
};

// Row r of `rows` is output r.
Sums share_in_chunks(const gf::BitMatrix& rows, const ChunkRules& rules);

}  // namespace calpe::opt
