// SPDX-License-Identifier: Apache-2.0
// Damage that reading found, by stripe. Missing shards do not count: every run looks for them.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "store/format/shard_header.hpp"
#include "store/format/stripe_ranges.hpp"

namespace calpe::store {

struct ReadDamage {
  StripeRanges stripes;                       // a block of some copy is bad
  std::map<ShardIndex, StripeRanges> shards;  // no copy of the shard has a good block
  StripeRanges contradicting;
};

// Consecutive stripes with bad blocks of the same shards.
struct DamagedRun {
  StripeRun run;
  std::set<ShardIndex> shards;
};

// All stripes of `shards`, ascending.
std::vector<DamagedRun> damaged_runs(const ReadDamage& damage);

// What is known after the stripes of `read` were read again, with the result `found`.
ReadDamage updated(const ReadDamage& before, const StripeRun& read, const ReadDamage& found);

}  // namespace calpe::store
