// SPDX-License-Identifier: Apache-2.0
// Losses by shards that cannot be read: they cost stripes, not arrays.
#pragma once
#include "durability/inputs.hpp"

namespace calpe::durability {

// Chance that one shard of one stripe cannot be read: an error on the way, or one that came since
// the last scrub. 1 - (1 - rate)^(8 bytes), and latent errors half an interval old.
double unreadable_shard(const Inputs& inputs);

// A stripe that has `down` shards lost already, and survived that, does not survive what else
// cannot be read.
double stripe_loss(const Scheme& scheme, unsigned down, double unreadable);

// Of one group of k+m devices.
struct ReadErrors {
  double stripes_per_year = 0;  // expected number that is lost
  // How often at least one is: less, when a rebuild loses several.
  double events_per_year = 0;
};
ReadErrors read_errors(const Scheme& scheme, const Inputs& inputs);

// Every byte of a group is read once: the chance that nothing is lost. Without parity this is the
// chance to read k devices without an error.
double survives_full_read(const Scheme& scheme, const Inputs& inputs);

}  // namespace calpe::durability
