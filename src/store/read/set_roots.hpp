// SPDX-License-Identifier: Apache-2.0
// All roots of a set, as the headers of its shards store them.
#pragma once
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "store/format/root_hash.hpp"
#include "store/read/open_set.hpp"

namespace calpe::store {

struct SetRoots {
  std::vector<Digest> shards;   // by index
  std::vector<RootPath> paths;  // by index
  Digest set = {};
  Digest hmac = {};  // zeros without a key
};

// Computes the set's roots from those of its shards. header: the common fields, with root_kind set.
// Does not add an HMAC.
Result<SetRoots> make_set_roots(const ShardHeader& header, std::vector<Digest> shards);
// A key is required for root kind hmac and refused for any other; fails with invalid_argument.
Status add_hmac(SetRoots& roots, const ShardHeader& header, std::span<const std::byte> key);

// Returns the header of shard `index` with its roots.
ShardHeader header_with_roots(ShardHeader header, const SetRoots& roots, ShardIndex index);

// Reads every block of every shard once, from one copy of each. Fails as add_hmac(), and with
// corrupt when a block is missing or does not match its checksum; the error names shard and stripe.
// Ignores the roots in the header, as this is for creating a new generation.
Result<SetRoots> compute_roots(const OpenSet& files, std::span<const std::byte> key,
                               unsigned jobs = 1, const OnProgress& on_progress = {});

}  // namespace calpe::store
