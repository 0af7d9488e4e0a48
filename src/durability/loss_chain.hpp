// SPDX-License-Identifier: Apache-2.0
// Losses by whole devices: a Markov chain over how many devices of a group, or of a pool, are down.
//
// Its rates span fifteen decades and more. Everything here is a sum or a product of positive terms
// (elimination in the manner of Grassmann, Taksar and Heyman), in logarithms: no digits cancel, and
// nothing underflows for m = 100.
#pragma once
#include <vector>

#include "durability/inputs.hpp"

namespace calpe::durability {

// State i: i devices are down, nothing is lost.
struct LossChain {
  std::vector<double> up;     // failures per hour in state i
  std::vector<double> down;   // rebuilds finished per hour in state i
  std::vector<double> fatal;  // chance that the failure out of state i loses data
  std::vector<double> lost;   // fraction of all stripes that is then lost
};

// Of one group of k+m devices, or of one pool.
LossChain make_chain(const Scheme& scheme, const Inputs& inputs);

struct ChainSolution {
  double log_loss_rate = 0;  // ln of losses per hour: of 1 / mean time to data loss; -inf: never
  double lost_fraction = 0;  // of the stripes, at a loss, on average
};
ChainSolution solve(const LossChain& chain);

// Of a loss within the first hours, all devices being sound at first. By uniformisation.
double loss_probability(const LossChain& chain, double hours);

}  // namespace calpe::durability
