// SPDX-License-Identifier: Apache-2.0
// All roots of a set together: what the headers of its shards get.
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
  Digest hmac = {};  // 0 without a key
};

// From the roots of all shards. header: what all shards have in common, with its root_kind. There
// is no HMAC in it yet.
Result<SetRoots> make_set_roots(const ShardHeader& header, std::vector<Digest> shards);
// A key is needed with root kind hmac and for no other: else fails with invalid_argument.
Status add_hmac(SetRoots& roots, const ShardHeader& header, std::span<const std::byte> key);

// What the header of shard `index` is with them.
ShardHeader header_with_roots(ShardHeader header, const SetRoots& roots, ShardIndex index);

// Reads every block of every shard once, one copy of each. Fails with corrupt and names the shard
// and stripe when a block is missing or does not match its checksum; as add_hmac(). The
// header's own roots are not looked at: for those who make a new generation.
Result<SetRoots> compute_roots(const OpenSet& files, std::span<const std::byte> key,
                               unsigned jobs = 1, const OnProgress& on_progress = {});

}  // namespace calpe::store
