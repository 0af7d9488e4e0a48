// SPDX-License-Identifier: Apache-2.0
// Chooses names for the files that repair creates, so that nothing of value is overwritten.
#pragma once
#include <string>
#include <vector>

#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct NewName {
  std::string path;
  bool is_taken = false;  // by a file that may be replaced: stale, or without a good header
};

// Returns the usual name for shard `index` in `folder`, or a similar one if another shard or a
// newer generation has it. An older generation of the set is replaced. If it has a root, it is
// replaced only by one of the same kind that the caller has proven. Fails with io if a file cannot
// be examined, as it must not be overwritten then.
Result<NewName> name_for_shard(FileSystem& files, const ShardHeader& header, ShardIndex index,
                               const std::string& folder, bool is_proven = false);

// Returns a hidden name next to `path` that no file of the set has, as an interrupted repair may
// have left a complete, useful file. `number` distinguishes the files of one repair.
std::string temporary_name(const std::string& path, const FoundSet& set, ShardIndex index,
                           std::size_t number);

// Removes leftovers of interrupted repairs of this set from `folder` if all its shards are complete
// under other names: files without a header, and copies. Ignores errors.
void remove_leftovers(FileSystem& files, const ShardHeader& header, const std::string& folder);

}  // namespace calpe::store
