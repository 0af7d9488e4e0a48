// SPDX-License-Identifier: Apache-2.0
// The lock of a set: one on every file that it has, in the order of shards. Two commands that see
// at least one file in common exclude each other, wherever the other files are.
#pragma once
#include <memory>

#include "store/find/set_discovery.hpp"
#include "store/io/held_files.hpp"

namespace calpe::store {

// Opens and locks the files of a set that was found without a lock, and reads their headers again
// through the open files. nullptr: a command changed the set in between; find it again. Use the
// result as the file system of all that is done to the set: it has the same files open. A set that
// is held may be held again through that file system. Fails with io, and with locked_error().
Result<std::unique_ptr<HeldFiles>> hold_set(FileSystem& files, const FoundSet& set, LockKind kind);

// For callers that cannot find the set again: instead of nullptr an error.
Result<std::unique_ptr<HeldFiles>> hold_found_set(FileSystem& files, const FoundSet& set,
                                                  LockKind kind);

// Fails with locked_error() when another command changes some set in these folders: then files may
// be missing from a list of names, or be those of two sets.
Status check_not_changing(FileSystem& files, const std::vector<std::string>& folders);

}  // namespace calpe::store
