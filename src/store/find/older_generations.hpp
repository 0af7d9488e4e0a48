// SPDX-License-Identifier: Apache-2.0
// Older generations of a set, which undo journals restore (docs/format.md, "Older generations").
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "store/find/set_discovery.hpp"
#include "store/find/shard_probe.hpp"

namespace calpe::store {

// Checks the name only; the content is checked when it is read.
bool is_named_as_undo(const std::string& path) noexcept;

// Shards of older generations: every shard of the generation after an undo journal, as it was
// before. An undo journal applies to its shard in any directory. Ignores journals that no shard
// needs. After an error, `steps` also has those that the journal may lead to.
struct OlderShards {
  std::vector<FoundFile> files;
  std::set<UndoStep> steps;
  std::vector<UnreadUndo> unread;
};
OlderShards older_shards(FileSystem& files, const std::vector<std::string>& undo_paths,
                         const std::vector<FoundFile>& found);

// Older generations of the set that have an undo journal, newest first. Includes shards that still
// are of the older generation.
std::vector<FoundSet> kept_generations(const Findings& findings, const ShardHeader& newest);

// Numbers of the generations before `newest` that have an undo journal, newest first, also of those
// that could not be read. Fails with io if a journal could not be read and no other tells its step.
Result<std::vector<std::uint64_t>> kept_numbers(const Findings& findings,
                                                const ShardHeader& newest);

// Returns false if no shard needs the journals of this step, as far as all of them could be read.
bool is_undo_needed(const Findings& findings, const UndoStep& step);

// Removes the undo journals of the set in `folders` that are incomplete or whose step is not kept.
// Returns their number. Fails with io.
Result<std::size_t> remove_undo_journals(FileSystem& files, const Uuid& uuid,
                                         const std::set<std::string>& folders,
                                         const std::function<bool(const UndoStep&)>& is_kept);

// Undo journals of the set in `folders` with their bytes, by step. Those that are incomplete or
// cannot be read do not count.
struct UndoJournal {
  std::string path;
  ShardIndex shard_index = 0;
  UndoStep step = {};
  std::uint64_t bytes = 0;
};
Result<std::vector<UndoJournal>> list_undo_journals(FileSystem& files, const Uuid& uuid,
                                                    const std::set<std::string>& folders);

// Directories of the shards that were found.
std::set<std::string> shard_folders(const FoundSet& set);

}  // namespace calpe::store
