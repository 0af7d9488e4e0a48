// SPDX-License-Identifier: Apache-2.0
// Existing shards with the names that protect is about to write.
#pragma once
#include <map>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "store/format/shard_header.hpp"
#include "store/io/file_system.hpp"

namespace calpe::tools {

// Finds shards of another set with this name in all targets. Fails if a target cannot be listed,
// because it may hold one.
Result<std::vector<std::string>> find_older(const std::vector<std::string>& targets,
                                            const std::string& name);

// UUID of the set that each path belongs to, if its header can be read.
using ReplacedSets = std::map<std::string, Uuid>;
ReplacedSets look_at_older(store::FileSystem& files, const std::vector<std::string>& older);

// Call when the new set is complete. Removes the remaining shards of every set that lost a shard to
// it. Returns the files kept: those of other sets, and those that could not be removed.
std::vector<std::string> remove_replaced(store::FileSystem& files,
                                         const std::vector<std::string>& older,
                                         const ReplacedSets& sets,
                                         const std::vector<std::string>& written);

}  // namespace calpe::tools
