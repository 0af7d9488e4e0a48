// SPDX-License-Identifier: Apache-2.0
// Finds fewer XORs than greedy choices by simulated annealing over all systems of relations
// (relations.hpp) with the same linear map.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ir/program.hpp"

namespace calpe::opt {

struct WalkRules {
  std::size_t steps = 0;  // 0.25 to 1 us each, for 25 to 2000 XORs
  std::uint64_t seed = 1;
};

// The result has at most as many XORs as `program`, which must be a sound xor program of at most
// Relations::values_max values. Equal arguments give equal results on every machine.
ir::Program walk_relations(const ir::Program& program, const WalkRules& rules);

}  // namespace calpe::opt
