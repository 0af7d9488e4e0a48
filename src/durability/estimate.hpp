// SPDX-License-Identifier: Apache-2.0
// The durability of a system: how often data are lost, by which cause, and how much.
#pragma once
#include "durability/inputs.hpp"
#include "durability/rebuild_time.hpp"

namespace calpe::durability {

// By cause; `any` is of at least one of them.
struct LossProbability {
  double device = 0;
  double read_error = 0;  // every lost stripe counted as an event of its own: an upper bound
  double correlated = 0;
  double any = 0;
  double any_clustered = 0;  // stripes that one rebuild loses counted as one event
};

struct Estimate {
  RebuildTime rebuild;      // of the only device that is down
  double groups = 1;        // groups of k+m devices, or pools; devices that fill none are unused
  double usable_bytes = 0;  // of the system
  double failures_per_year = 0;  // of devices, in the system

  // Of the whole system, per year.
  double device_losses = 0;        // 1 / mean time to data loss, by whole devices
  double log10_device_losses = 0;  // that can be below every double; -inf: never
  double lost_stripes = 0;         // by read errors, expected
  double read_error_losses = 0;    // how often at least one
  double correlated_losses = 0;

  LossProbability year;     // any year, in the long run
  LossProbability mission;  // the first years, all devices being sound at first
  double nines = 0;         // -log10 of year.any; infinite when nothing is ever lost
  // Normalised magnitude of data loss: bytes expected to be lost in the mission, per usable byte.
  double nomdl = 0;
  double lost_bytes = 0;  // in the mission
  double full_read = 0;   // chance that reading all of one group once loses nothing
};

// The inputs must pass check().
Estimate estimate(const Scheme& scheme, const Inputs& inputs);

// Chance of a shock to lose data of a group.
double shock_loss(const Scheme& scheme, double hit);

}  // namespace calpe::durability
