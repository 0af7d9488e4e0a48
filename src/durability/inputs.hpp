// SPDX-License-Identifier: Apache-2.0
// All that a durability is computed from, apart from the code. docs/durability.md has the origin of
// every default.
#pragma once
#include <cstdint>
#include <optional>

#include <calpe/result.hpp>

#include "durability/scheme.hpp"

namespace calpe::durability {

inline constexpr double hours_per_year = 8766;  // 365.25 days

// How long devices live: Weibull, which for shape 1 is exponential. `scale_hours` is infinite for
// devices that never fail.
struct DeviceLife {
  double shape = 1;
  double scale_hours = 0;
  bool is_exponential() const { return shape == 1; }
  // Failures per hour of a device and those that replace it, averaged over the first `hours`: what
  // a chain without memory can know of a Weibull.
  double mean_rate(double hours) const;
};

// From the probability to fail within a year, 0 <= afr < 1: rate -ln(1 - afr).
Result<DeviceLife> life_from_afr(double afr);
// From failures per device-year, which Backblaze calls AFR, too.
Result<DeviceLife> life_from_rate(double failures_per_year);
Result<DeviceLife> life_from_mttf(double hours);
Result<DeviceLife> life_from_weibull(double shape, double scale_hours);

enum class Model : std::uint8_t {
  chain,   // continuous time, exact
  window,  // Backblaze's: m+1 failures inside one window of a rebuild's length
};

struct Inputs {
  Model model = Model::chain;
  std::uint64_t devices = 0;       // 0: one group, or one pool
  std::uint64_t pool_devices = 0;  // shards of a stripe are spread over so many; 0: over k+m
  double capacity_bytes = 20e12;
  double fill = 0.8;
  DeviceLife life;  // no default: life_from_afr(0.015)

  double read_errors_per_bit = 1e-15;
  double latent_errors_per_tb_year = 0;
  double scrub_days = 30;        // 0: never
  double shard_bytes = 1 << 20;  // of one stripe

  double read_bytes_per_s = 200e6;
  double write_bytes_per_s = 200e6;
  double rebuild_share = 0.3;                      // of a device's bandwidth
  std::optional<double> network_bytes_per_s = {};  // for one rebuild
  std::optional<double> decode_bytes_per_s = {};   // of the shards that are read
  double detect_hours = 0.5;
  double replace_hours = 12;
  std::optional<double> repair_hours = {};  // all of the above, known as one figure
  bool is_repair_serial = false;            // one rebuild at a time

  double shocks_per_year = 0;  // of a group: power, rack, firmware
  double shock_hit = 0.1;      // chance of a device to be lost by one
  double batch_factor = 1;     // failures come so much faster while a device is down
  double mission_years = 5;

  double used_bytes() const { return capacity_bytes * fill; }  // of a device
  double failures_per_hour() const { return life.mean_rate(mission_years * hours_per_year); }
};

// invalid_argument names the input that cannot be, what it is and what was expected.
Status check(const Inputs& inputs, const Scheme& scheme);

// "1e-15"
std::string number_text(double value);

}  // namespace calpe::durability
