// SPDX-License-Identifier: Apache-2.0
// Simulates whole missions event by event, with a clock for every device. Used to check the chain,
// and for Weibull lifetimes and repairs of constant duration.
#pragma once
#include <cstdint>

#include "durability/inputs.hpp"

namespace calpe::durability {

struct MissionOptions {
  std::uint64_t missions = 100'000;
  std::uint64_t seed = 1;
  bool is_repair_fixed = false;  // constant instead of exponential
  bool has_read_errors = true;
};

struct MissionResult {
  std::uint64_t missions = 0;
  // By the first cause.
  std::uint64_t device = 0;
  std::uint64_t read_error = 0;
  std::uint64_t correlated = 0;
  double probability = 0;  // of any loss within the mission, in one group or pool
  double low = 0;          // 95 % interval (Wilson)
  double high = 0;
  std::uint64_t losses() const { return device + read_error + correlated; }
};

MissionResult simulate_missions(const Scheme& scheme, const Inputs& inputs,
                                const MissionOptions& options);

}  // namespace calpe::durability
