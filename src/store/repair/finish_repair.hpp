// SPDX-License-Identifier: Apache-2.0
// Last steps of a repair: final names, a look at the result, and cleaning up.
#pragma once
#include "store/read/open_set.hpp"
#include "store/repair/repair_set.hpp"

namespace calpe::store {

// Gives complete shards with temporary names their final names. Puts shards aside that an
// interrupted protect --overwrite was replacing. Fails with io.
Status name_temporaries(FileSystem& files, const OpenSet& shards, RepairReport& report);

// Finds the set again, as the next command will, and fails with io if a shard is not there.
Status check_found_complete(FileSystem& files, const ShardHeader& header,
                            const std::vector<std::string>& places);

// Removes leftovers of interrupted repairs and returns the report.
RepairReport end_repair(FileSystem& files, const OpenSet& shards, RepairReport report);

}  // namespace calpe::store
