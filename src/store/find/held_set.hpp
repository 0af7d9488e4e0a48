// SPDX-License-Identifier: Apache-2.0
// Locks a set: every file, in the order of the shards. Two commands exclude each other if they see
// at least one file in common.
#pragma once
#include <memory>

#include "store/find/set_discovery.hpp"
#include "store/io/held_files.hpp"

namespace calpe::store {

// Opens and locks the files of a set that was found without a lock, and reads their headers again.
// Returns nullptr if a command changed the set in between; find it again. Access the set only
// through the returned file system, which keeps these files open. A held set may be held again
// through that file system. Fails with io, and with locked_error().
Result<std::unique_ptr<HeldFiles>> hold_set(FileSystem& files, const FoundSet& set, LockKind kind);

// Same, but fails instead of returning nullptr, for callers that cannot find the set again.
Result<std::unique_ptr<HeldFiles>> hold_found_set(FileSystem& files, const FoundSet& set,
                                                  LockKind kind);

// Fails with locked_error() if another command is changing a set in these directories: file lists
// may then be incomplete, or mix two sets.
Status check_not_changing(FileSystem& files, const std::vector<std::string>& folders);

}  // namespace calpe::store
