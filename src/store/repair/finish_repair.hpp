// SPDX-License-Identifier: Apache-2.0
// Last steps of a repair: renames complete shards that still have temporary names.
#pragma once
#include "store/read/open_set.hpp"
#include "store/repair/repair_set.hpp"

namespace calpe::store {

// Gives complete shards with temporary names their final names. Fails with io.
Status name_temporaries(FileSystem& files, const OpenSet& shards, RepairReport& report);

// Removes leftovers of interrupted repairs and returns the report.
RepairReport end_repair(FileSystem& files, const OpenSet& shards, RepairReport report);

}  // namespace calpe::store
