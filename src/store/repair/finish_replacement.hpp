// SPDX-License-Identifier: Apache-2.0
// Completes a protect --overwrite that was interrupted while it renamed shards, or an update of
// kept originals: the older shards are put aside as protect does, and removed when the new set is
// repaired.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "store/io/held_files.hpp"
#include "store/read/open_set.hpp"

namespace calpe::store {

// Shards that a set replaces. Their sets have a shard under the name that protect gave it when it
// put it aside, which has the UUID of the new set.
struct ReplacedShards {
  std::vector<std::string> named = {};
  std::vector<std::string> asides = {};
  std::set<Uuid> sets = {};  // other than the new one
};
// Skips directories that cannot be read.
ReplacedShards find_replaced(FileSystem& files, const ShardHeader& header,
                             const std::set<std::string>& folders);

// Locks them. Fails with io, and with locked_error().
Status hold_replaced(HeldFiles& files, const ShardHeader& header,
                     const std::set<std::string>& folders);

// Frees the names that the new shards get. Fails with io.
Status put_replaced_aside(FileSystem& files, const ShardHeader& header,
                          const std::set<std::string>& folders);

// Removes them and returns their paths, unless one of their sets also has shards elsewhere in
// `places`. Call when the new set is complete. Fails with io.
Result<std::vector<std::string>> remove_replaced(FileSystem& files, const ShardHeader& header,
                                                 const std::set<std::string>& folders,
                                                 const std::vector<std::string>& places);

}  // namespace calpe::store
