// SPDX-License-Identifier: Apache-2.0
// Inputs of the durability model, apart from the code. docs/durability.md has the source of every
// default.
#pragma once
#include <cstdint>
#include <optional>

#include <calpe/result.hpp>

#include "durability/scheme.hpp"

namespace calpe::durability {

inline constexpr double hours_per_year = 8766;  // 365.25 days

// Weibull lifetime of devices; shape 1 is exponential. `scale_hours` is infinite for devices that
// never fail.
struct DeviceLife {
  double shape = 1;
  double scale_hours = 0;
  bool is_exponential() const { return shape == 1; }
  // Failures per hour of a device and its replacements, averaged over the first `hours`. A
  // memoryless chain uses this in place of a Weibull distribution.
  double mean_rate(double hours) const;
};

// From the probability of failure within a year, 0 <= afr < 1; the rate is -ln(1 - afr).
Result<DeviceLife> life_from_afr(double afr);
// From failures per device-year, which Backblaze also calls AFR.
Result<DeviceLife> life_from_rate(double failures_per_year);
Result<DeviceLife> life_from_mttf(double hours);
Result<DeviceLife> life_from_weibull(double shape, double scale_hours);

enum class Model : std::uint8_t {
  chain,   // continuous time, exact
  window,  // Backblaze's: m+1 failures within one window as long as a rebuild
};

struct Inputs {
  Model model = Model::chain;
  std::uint64_t devices = 0;       // 0: one group, or one pool
  std::uint64_t pool_devices = 0;  // devices that the shards are spread over; 0: k+m
  double capacity_bytes = 20e12;
  double fill = 0.8;
  DeviceLife life;  // set by life_from_afr(0.015) and others

  double read_errors_per_bit = 1e-15;
  double latent_errors_per_tb_year = 0;
  double scrub_days = 30;        // 0: never
  double shard_bytes = 1 << 20;  // per stripe

  double read_bytes_per_s = 200e6;
  double write_bytes_per_s = 200e6;
  double rebuild_share = 0.3;                      // share of a device's bandwidth
  std::optional<double> network_bytes_per_s = {};  // per rebuild
  std::optional<double> decode_bytes_per_s = {};   // counting the input shards
  double detect_hours = 0.5;
  double replace_hours = 12;
  std::optional<double> repair_hours = {};  // replaces all of the above
  bool is_repair_serial = false;            // one rebuild at a time

  double shocks_per_year = 0;  // per group: power, rack, firmware
  double shock_hit = 0.1;      // probability that a shock destroys a device
  double batch_factor = 1;     // failure rate multiplier while a device is down
  double mission_years = 5;

  double used_bytes() const { return capacity_bytes * fill; }  // per device
  double failures_per_hour() const { return life.mean_rate(mission_years * hours_per_year); }
};

// Fails with invalid_argument, naming the input, its value and what was expected.
Status check(const Inputs& inputs, const Scheme& scheme);

// "1e-15"
std::string number_text(double value);

}  // namespace calpe::durability
