// SPDX-License-Identifier: Apache-2.0
// Shares within chunks of neighbouring inputs, so that shared values live briefly and stay in
// registers.
#pragma once
#include <cstddef>

#include "ir/linear_map.hpp"
#include "opt/pair_sharing.hpp"
#include "opt/sums.hpp"

namespace calpe::opt {

struct ChunkRules {
  std::size_t chunk_inputs = 1;  // number of neighbours that share
  SharingRules sharing = {};
};

// Row r of `rows` is output r.
Sums share_in_chunks(const gf::BitMatrix& rows, const ChunkRules& rules);

}  // namespace calpe::opt
