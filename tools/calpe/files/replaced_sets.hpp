// SPDX-License-Identifier: Apache-2.0
// Shards that have the names of those that protect is to write, and what becomes of them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "store/format/shard_header.hpp"
#include "store/io/file_system.hpp"

namespace calpe::tools {

// Of another set with this name, in any target. A target that cannot be listed may hold one: that
// is an error, not an empty folder.
Result<std::vector<std::string>> find_older(const std::vector<std::string>& targets,
                                            const std::string& name);

// Which set each of them is of, where that can be read.
using ReplacedSets = std::map<std::string, Uuid>;
ReplacedSets look_at_older(store::FileSystem& files, const std::vector<std::string>& older);

// When the new set is complete: a set of which it has replaced a shard is gone, so the rest of it
// is removed. Returns what was left, as it is of some other set or could not be removed.
std::vector<std::string> remove_replaced(store::FileSystem& files,
                                         const std::vector<std::string>& older,
                                         const ReplacedSets& sets,
                                         const std::vector<std::string>& written);

}  // namespace calpe::tools
