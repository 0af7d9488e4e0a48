// SPDX-License-Identifier: Apache-2.0
// Names for the files that repair makes, such that nothing of value is overwritten.
#pragma once
#include <string>
#include <vector>

#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct NewName {
  std::string path;
  bool is_taken = false;  // by something that may go: stale, or without a good header
};

// For shard `index` in `folder`: the usual name, or one beside it if another shard or a newer
// generation has that. An older generation of the set gives its name away, but if it has a root
// only to one of the same kind that the caller has proven. Fails with io: what cannot be looked at
// is not overwritten.
Result<NewName> name_for_shard(FileSystem& files, const ShardHeader& header, ShardIndex index,
                               const std::string& folder, bool is_proven = false);

// A hidden name beside `path` that no file of the set has: one may be left over from a repair that
// was killed, complete and of use. `number` tells files of one repair apart.
std::string temporary_name(const std::string& path, const FoundSet& set, ShardIndex index,
                           std::size_t number);

// Removes from `folder` what killed repairs of this set left there, when all its shards are whole
// under other names: files without a header, and copies. What cannot be removed stays.
void remove_leftovers(FileSystem& files, const ShardHeader& header, const std::string& folder);

}  // namespace calpe::store
