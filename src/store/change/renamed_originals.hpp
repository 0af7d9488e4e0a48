// SPDX-License-Identifier: Apache-2.0
// Finds what changed in the files of kept originals, and refuses renamed files that are damaged.
#pragma once
#include <calpe/result.hpp>

#include "store/read/in_place_shards.hpp"
#include "store/tree/in_place_source.hpp"
#include "store/tree/tree_difference.hpp"

namespace calpe::store {

// Compares the file list with the files. If it has digests, reads files that seem to be renamed,
// unless it is for a dry run. A removed and an added file of the same size and time but with
// different digests are taken for one that was renamed and damaged, if no other file has this time,
// as times of copies from archives often are, or if they have a block in common: fails with corrupt
// then, and with io.
Result<TreeDifference> compare_with_originals(const OriginalShards& before, OriginalSource& now,
                                              bool is_dry_run);

}  // namespace calpe::store
