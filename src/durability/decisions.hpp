// SPDX-License-Identifier: Apache-2.0
// What somebody who must choose asks next: what the result hangs on, and how many parity shards are
// enough.
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

// One input after the other is made worse.
std::vector<Sensitivity> sensitivities(const Scheme& scheme, const Inputs& inputs);

inline constexpr unsigned parity_searched_max = 32;

// The first scheme with 0, 1, 2, ... parity shards whose year.any is at most 10^-nines; none up to
// `parity_searched_max`. `make` gives the scheme with so many, or nullopt where there is none (an
// lrc needs some).
std::optional<Scheme> smallest_parity(
    const std::function<std::optional<Scheme>(unsigned parity)>& make, const Inputs& inputs,
    double nines);

// What rebuilding costs a fleet, on average.
struct RepairTraffic {
  double failures_per_day = 0;
  double read_bytes_per_day = 0;
  double written_bytes_per_day = 0;
  double bytes_per_day() const { return read_bytes_per_day + written_bytes_per_day; }
};
// Each lost device is rebuilt alone, as nearly all are.
RepairTraffic repair_traffic(const Scheme& scheme, const Inputs& inputs, double devices);

}  // namespace calpe::durability
