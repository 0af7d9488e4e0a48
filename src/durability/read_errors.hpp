// SPDX-License-Identifier: Apache-2.0
// Losses by unreadable shards: they cost stripes, not arrays.
#pragma once
#include "durability/inputs.hpp"

namespace calpe::durability {

// Probability that one shard of one stripe cannot be read: a read error, or a latent error since
// the last scrub. 1 - (1 - rate)^(8 bytes), plus latent errors over half an interval.
double unreadable_shard(const Inputs& inputs);

// Probability that a stripe that survived the loss of `down` shards is lost to further unreadable
// ones.
double stripe_loss(const Scheme& scheme, unsigned down, double unreadable);

// Losses of one group of k+m devices.
struct ReadErrors {
  double stripes_per_year = 0;  // expected number of lost stripes
  // Events with at least one lost stripe; fewer than stripes if a rebuild loses several.
  double events_per_year = 0;
};
ReadErrors read_errors(const Scheme& scheme, const Inputs& inputs);

// Probability that reading every byte of a group once loses nothing. Without parity: that k devices
// are read without an error.
double survives_full_read(const Scheme& scheme, const Inputs& inputs);

}  // namespace calpe::durability
