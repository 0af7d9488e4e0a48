// SPDX-License-Identifier: Apache-2.0
#include "durability/window_model.hpp"

#include "durability/probability.hpp"

namespace calpe::durability {

double window_loss_per_year(const Scheme& scheme, double failures_per_year, double repair_days) {
  const double windows = 365 / repair_days;
  const double fails = within(failures_per_year, 1 / windows);
  double loss = 0;
  for (unsigned j = 1; j <= scheme.shards(); ++j)
    loss += binomial(scheme.shards(), j, fails) * scheme.dead_fraction(j);
  return at_least_once(loss, windows);
}

}  // namespace calpe::durability
