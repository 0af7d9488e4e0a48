// SPDX-License-Identifier: Apache-2.0
// Decision support: sensitivity of the result, the smallest sufficient parity, and repair traffic.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "durability/estimate.hpp"

namespace calpe::durability {

struct Sensitivity {
  std::string change;  // "rebuild x4"
  LossProbability year;
  double nines = 0;
};

// Worsens one input at a time.
std::vector<Sensitivity> sensitivities(const Scheme& scheme, const Inputs& inputs);

inline constexpr unsigned parity_searched_max = 32;

// The first scheme with 0, 1, 2, ... parity shards whose year.any is at most 10^-nines; nullopt if
// there is none up to `parity_searched_max`. `make` returns the scheme with this many, or nullopt
// if it does not exist (an lrc needs some parity).
std::optional<Scheme> smallest_parity(
    const std::function<std::optional<Scheme>(unsigned parity)>& make, const Inputs& inputs,
    double nines);

// Average repair traffic of a system.
struct RepairTraffic {
  double failures_per_day = 0;
  double read_bytes_per_day = 0;
  double written_bytes_per_day = 0;
  double bytes_per_day() const { return read_bytes_per_day + written_bytes_per_day; }
};
// Assumes that each lost device is rebuilt alone, as is nearly always the case.
RepairTraffic repair_traffic(const Scheme& scheme, const Inputs& inputs, double devices);

}  // namespace calpe::durability
