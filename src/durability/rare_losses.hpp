// SPDX-License-Identifier: Apache-2.0
// Losses by whole devices, simulated although they are too rare to be seen: failures are made as
// likely as rebuilds, and each loss counts with the weight by which its path was made more likely
// (importance sampling by balanced failure biasing).
#pragma once
#include <cstdint>

#include "durability/loss_chain.hpp"

namespace calpe::durability {

struct Sampled {
  double losses_per_year = 0;  // of one group or pool
  double low = 0;              // 95 % interval
  double high = 0;
  std::uint64_t cycles = 0;
};

// A cycle goes from all devices sound to all sound again, or to a loss. The same seed gives the
// same answer. Independent of solve(): it knows the rates, not the equations.
Sampled sample_rare_losses(const LossChain& chain, std::uint64_t cycles, std::uint64_t seed);

}  // namespace calpe::durability
