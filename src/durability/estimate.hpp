// SPDX-License-Identifier: Apache-2.0
// Durability of a system: how often data is lost, why, and how much.
#pragma once
#include "durability/inputs.hpp"
#include "durability/rebuild_time.hpp"

namespace calpe::durability {

// By cause; `any` is the probability of at least one of them.
struct LossProbability {
  double device = 0;
  double read_error = 0;  // counts every lost stripe as an event: an upper bound
  double correlated = 0;
  double any = 0;
  double any_clustered = 0;  // counts the stripes that one rebuild loses as one event
};

struct Estimate {
  RebuildTime rebuild;           // if no other device is down
  double groups = 1;             // groups of k+m devices, or pools; remaining devices are unused
  double usable_bytes = 0;       // of the system
  double failures_per_year = 0;  // of devices, in the system

  // Whole system, per year.
  double device_losses = 0;        // 1 / mean time to data loss, by whole devices
  double log10_device_losses = 0;  // may be below the range of double; -inf: never
  double lost_stripes = 0;         // expected number, by read errors
  double read_error_losses = 0;    // events with at least one lost stripe
  double correlated_losses = 0;

  LossProbability year;     // any year in the long run
  LossProbability mission;  // the first years, starting with intact devices
  double nines = 0;         // -log10 of year.any; infinite if nothing is ever lost
  // Normalised magnitude of data loss: expected lost bytes in the mission per usable byte.
  double nomdl = 0;
  double lost_bytes = 0;  // in the mission
  double full_read = 0;   // probability that one full read of a group loses nothing
};

// The inputs must pass check().
Estimate estimate(const Scheme& scheme, const Inputs& inputs);

// Probability that a shock loses data of a group.
double shock_loss(const Scheme& scheme, double hit);

}  // namespace calpe::durability
