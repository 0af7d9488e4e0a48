// SPDX-License-Identifier: Apache-2.0
// Rebuilds undo journals that were lost with a disk, so that older generations survive the next
// loss too.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "store/find/set_discovery.hpp"

namespace calpe::store {

struct UndoRepair {
  std::vector<std::string> files_created = {};
  std::vector<std::uint64_t> lost = {};  // generations that cannot be restored completely
};

// Rebuilds missing and damaged undo journals of the set in the directories of its shards, from the
// other shards of the same generation, and removes the damaged ones from `places`. Repair the
// newest generation first. Reads each generation with a missing journal once. Keeps what is left of
// a generation that cannot be restored. Fails with io, and with corrupt if roots do not match.
Result<UndoRepair> rebuild_undo_journals(FileSystem& files, const std::vector<std::string>& places,
                                         const ShardHeader& newest);

}  // namespace calpe::store
