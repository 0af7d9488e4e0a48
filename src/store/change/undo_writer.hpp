// SPDX-License-Identifier: Apache-2.0
// Saves what a new generation will overwrite in a shard, so that the old one can be read later.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "store/find/redo_journal.hpp"

namespace calpe::store {

// The state of a shard before and after a change.
struct ShardChange {
  const std::string& path;
  const ShardHeader& before;
  const ShardHeader& after;
};

// Writes and completes the undo journal of a shard that is still unchanged: the old bytes of
// `writes`, and all bytes beyond the new end of the file. Returns its path. Removes it on failure.
// Fails with io.
Result<std::string> write_undo_journal(FileSystem& files, File& shard, const ShardChange& change,
                                       std::span<const RedoWrite> writes);

}  // namespace calpe::store
