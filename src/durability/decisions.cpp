// SPDX-License-Identifier: Apache-2.0
#include "durability/decisions.hpp"

#include <cmath>

#include "base/text.hpp"

namespace calpe::durability {

namespace {

// One shock in a hundred years that destroys a tenth of the devices.
constexpr double usual_shocks_per_year = 0.01;
constexpr double usual_shock_hit = 0.1;

}  // namespace

std::vector<Sensitivity> sensitivities(const Scheme& scheme, const Inputs& inputs) {
  std::vector<Sensitivity> list;
  const auto add = [&](std::string change, const Inputs& changed) {
    const Estimate e = estimate(scheme, changed);
    list.push_back({std::move(change), e.year, e.nines});
  };
  Inputs failures = inputs;
  // 10 times the failures at any time is 10 times the hazard.
  failures.life.scale_hours /= std::pow(10.0, 1 / inputs.life.shape);
  add("device failures x10", failures);
  Inputs reads = inputs;
  reads.read_errors_per_bit = std::min(0.5, reads.read_errors_per_bit * 10);
  reads.latent_errors_per_tb_year *= 10;
  add("read errors x10", reads);
  Inputs rebuild = inputs;
  rebuild.repair_hours = 4 * estimate(scheme, inputs).rebuild.hours();
  add("rebuild time x4", rebuild);
  Inputs batch = inputs;
  batch.batch_factor *= 10;
  add("failures x10 while one is down", batch);
  Inputs shocks = inputs;
  if (inputs.shocks_per_year == 0) {
    shocks.shocks_per_year = usual_shocks_per_year;
    shocks.shock_hit = usual_shock_hit;
    add("one shock in 100 years, 10 % of devices lost", shocks);
  } else {
    shocks.shocks_per_year *= 10;
    add("shocks x10", shocks);
  }
  return list;
}

std::optional<Scheme> smallest_parity(
    const std::function<std::optional<Scheme>(unsigned parity)>& make, const Inputs& inputs,
    double nines) {
  for (unsigned parity = 0; parity <= parity_searched_max; ++parity) {
    std::optional<Scheme> scheme = make(parity);
    if (scheme && check(inputs, *scheme) && estimate(*scheme, inputs).nines >= nines) return scheme;
  }
  return std::nullopt;
}

RepairTraffic repair_traffic(const Scheme& scheme, const Inputs& inputs, double devices) {
  const double failures = devices * inputs.failures_per_hour() * 24;
  const double written = failures * inputs.used_bytes();
  return {failures, written * scheme.single_reads, written};
}

}  // namespace calpe::durability
