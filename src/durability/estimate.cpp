// SPDX-License-Identifier: Apache-2.0
#include "durability/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "durability/loss_chain.hpp"
#include "durability/probability.hpp"
#include "durability/read_errors.hpp"
#include "durability/window_model.hpp"

namespace calpe::durability {

namespace {

// Losses of one group or pool by device failures.
struct DeviceLosses {
  double log_per_year = log_zero;
  double in_year = 0;
  double in_mission = 0;
  double lost_fraction = 1;  // of the stripes, per loss
};

DeviceLosses by_chain(const Scheme& scheme, const Inputs& in) {
  const LossChain chain = make_chain(scheme, in);
  const ChainSolution solution = solve(chain);
  const double log_per_year = solution.log_loss_rate + std::log(hours_per_year);
  return {log_per_year, within(std::exp(log_per_year), 1),
          loss_probability(chain, in.mission_years * hours_per_year), solution.lost_fraction};
}

DeviceLosses by_window(const Scheme& scheme, const Inputs& in, double repair_hours) {
  const double year =
      window_loss_per_year(scheme, in.failures_per_hour() * hours_per_year, repair_hours / 24);
  const double rate = -std::log1p(-year);
  return {std::log(rate), year, within(rate, in.mission_years), 1};
}

LossProbability over(const Estimate& e, double device, double years) {
  LossProbability loss = {device, within(e.lost_stripes, years),
                          within(e.correlated_losses, years)};
  // 1 - product of (1 - each), as a sum of logarithms to keep the digits of tiny numbers.
  const double others = std::log1p(-device) - e.correlated_losses * years;
  loss.any = -std::expm1(others - e.lost_stripes * years);
  loss.any_clustered = -std::expm1(others - e.read_error_losses * years);
  return loss;
}

}  // namespace

double shock_loss(const Scheme& scheme, double hit) {
  double loss = 0;
  for (unsigned j = 1; j <= scheme.shards(); ++j)
    loss += binomial(scheme.shards(), j, hit) * scheme.dead_fraction(j);
  return loss;
}

Estimate estimate(const Scheme& scheme, const Inputs& in) {
  Estimate e;
  e.rebuild = rebuild_time(in, scheme.single_reads);
  const double unit = in.pool_devices == 0 ? scheme.shards() : double(in.pool_devices);
  const double devices = in.devices == 0 ? unit : double(in.devices);
  e.groups = std::floor(devices / unit);
  const double narrow_groups = e.groups * unit / scheme.shards();  // groups if pools were groups
  e.usable_bytes = narrow_groups * scheme.data_shards * in.used_bytes();
  e.failures_per_year = devices * in.failures_per_hour() * hours_per_year;

  const DeviceLosses device =
      in.model == Model::window ? by_window(scheme, in, e.rebuild.hours()) : by_chain(scheme, in);
  const double log_losses = device.log_per_year + std::log(e.groups);
  e.device_losses = std::exp(log_losses);
  e.log10_device_losses = log_losses / std::log(10.0);

  const ReadErrors errors = read_errors(scheme, in);
  e.lost_stripes = narrow_groups * errors.stripes_per_year;
  e.read_error_losses = narrow_groups * errors.events_per_year;
  const double shock = shock_loss(scheme, in.shock_hit);
  e.correlated_losses = e.groups * in.shocks_per_year * shock;

  e.year = over(e, at_least_once(device.in_year, e.groups), 1);
  e.mission = over(e, at_least_once(device.in_mission, e.groups), in.mission_years);
  e.nines = -std::log10(e.year.any);
  // A stripe that cannot be rebuilt counts as lost completely.
  const double stripes = narrow_groups * in.used_bytes() / in.shard_bytes;
  const double lost_per_year = e.device_losses / e.groups * device.lost_fraction +
                               e.lost_stripes / stripes + in.shocks_per_year * shock;
  e.nomdl = std::min(1.0, in.mission_years * lost_per_year);
  e.lost_bytes = e.nomdl * e.usable_bytes;
  e.full_read = survives_full_read(scheme, in);
  return e;
}

}  // namespace calpe::durability
