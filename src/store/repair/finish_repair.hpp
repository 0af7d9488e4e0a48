// SPDX-License-Identifier: Apache-2.0
// What is to be done when all shards are whole: names for those that a killed command left without.
#pragma once
#include "store/read/open_set.hpp"
#include "store/repair/repair_set.hpp"

namespace calpe::store {

// Complete shards that have but temporary names get theirs. Fails with io.
Status name_temporaries(FileSystem& files, const OpenSet& shards, RepairReport& report);

// Removes what killed repairs left, and gives the report back.
RepairReport end_repair(FileSystem& files, const OpenSet& shards, RepairReport report);

}  // namespace calpe::store
