// SPDX-License-Identifier: Apache-2.0
// Removes redo journals that no shard needs.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "store/find/set_discovery.hpp"

namespace calpe::store {

// Removes the journals of the set in `folders`: those of uncommitted and older generations,
// incomplete ones, and those whose shard is missing. Keeps journals that shards of a newer
// generation need, as their remaining shards may be elsewhere. `places`: all directories in which
// such shards may be; those that cannot be read are skipped. Fails with io.
Status remove_unused_journals(FileSystem& files, const ShardHeader& header,
                              const std::set<std::string>& folders,
                              const std::vector<std::string>& places = {});

}  // namespace calpe::store
