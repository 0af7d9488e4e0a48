// SPDX-License-Identifier: Apache-2.0
// Pass: pair sharing (pair_sharing.hpp) of a whole program, from its linear map alone.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ir/linear_map.hpp"
#include "ir/program.hpp"

namespace calpe::opt {

struct GreedyRules {
  std::size_t trials = 1;  // the first breaks ties in order, the others at random
  // Wider maps are shared in groups of columns of at most this many cells: the work grows with the
  // square of the values in a group.
  std::size_t group_cells = 65536;
  std::uint64_t seed = 1;
};

// Returns a program for `map` in the shape of `program`: the trial with the fewest XORs.
ir::Program greedy_sharing(const ir::Program& program, const gf::BitMatrix& map,
                           const GreedyRules& rules);

}  // namespace calpe::opt
