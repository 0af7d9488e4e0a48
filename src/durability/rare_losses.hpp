// SPDX-License-Identifier: Apache-2.0
// Simulates losses by device failures that are too rare to observe. Failures are made as likely as
// rebuilds, and each loss is weighted by how much that changed its probability (importance sampling
// by balanced failure biasing).
#pragma once
#include <cstdint>

#include "durability/loss_chain.hpp"

namespace calpe::durability {

struct Sampled {
  double losses_per_year = 0;  // per group or pool
  double low = 0;              // 95 % interval
  double high = 0;
  std::uint64_t cycles = 0;
};

// A cycle starts with all devices intact and ends when they are intact again, or with a loss. The
// same seed gives the same result. Independent of solve(): uses the rates, not the equations.
Sampled sample_rare_losses(const LossChain& chain, std::uint64_t cycles, std::uint64_t seed);

}  // namespace calpe::durability
