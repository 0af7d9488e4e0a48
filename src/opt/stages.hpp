// SPDX-License-Identifier: Apache-2.0
// Splits a linear map into a product of lighter ones. A decoder's matrix is dense, but is a small
// dense matrix times light rows: the syndromes of the surviving parities, then a solve for the lost
// shards. If a parity is the plain sum of all data, the last lost shard is that sum plus the other
// lost ones.
#pragma once
#include <vector>

#include "ir/linear_map.hpp"
#include "ir/program.hpp"

namespace calpe::opt {

// targets[r] = sum of columns[c] over the ones of row r. Values are those of the program to be
// made: inputs, outputs and its first temporaries. A column may be the target of an earlier row.
struct Stage {
  gf::BitMatrix rows;
  std::vector<ir::Value> columns;
  std::vector<ir::Value> targets;
};

struct Stages {
  std::uint32_t temporaries = 0;
  std::vector<Stage> in_order;
};

// `bits` is the program's map and `shape` its shape. Returns the stages with the fewest ones of
// those tried; a single stage if nothing is gained, or if more temporaries than allowed were
// needed.
Stages plan_stages(const ir::Program::Shape& shape, const gf::BitMatrix& bits,
                   std::size_t temporaries_max);

}  // namespace calpe::opt
