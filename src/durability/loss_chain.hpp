// SPDX-License-Identifier: Apache-2.0
// Losses by device failures: a Markov chain over the number of devices that are down in a group or
// pool.
//
// The rates span fifteen decades and more. All computations are sums and products of positive terms
// in logarithms (elimination by Grassmann, Taksar and Heyman), so no digits cancel and nothing
// underflows for m = 100.
#pragma once
#include <vector>

#include "durability/inputs.hpp"

namespace calpe::durability {

// State i: i devices are down and nothing is lost.
struct LossChain {
  std::vector<double> up;     // failures per hour in state i
  std::vector<double> down;   // rebuilds finished per hour in state i
  std::vector<double> fatal;  // probability that the failure out of state i loses data
  std::vector<double> lost;   // fraction of all stripes that it loses
};

// The chain of one group of k+m devices, or of one pool.
LossChain make_chain(const Scheme& scheme, const Inputs& inputs);

struct ChainSolution {
  double log_loss_rate = 0;  // ln of losses per hour (1 / mean time to data loss); -inf: never
  double lost_fraction = 0;  // of the stripes, average per loss
};
ChainSolution solve(const LossChain& chain);

// Probability of a loss within the first hours, starting with intact devices. By uniformisation.
double loss_probability(const LossChain& chain, double hours);

}  // namespace calpe::durability
