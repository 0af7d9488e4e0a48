// SPDX-License-Identifier: Apache-2.0
// Shows shards as they are with their redo journals applied (docs/format.md, "A new generation").
#pragma once
#include <string>
#include <vector>

#include "store/find/redo_journal.hpp"
#include "store/find/shard_probe.hpp"

namespace calpe::store {

// Checks the name only; the content is checked when it is read.
bool is_named_as_journal(const std::string& path) noexcept;

// Replaces each file that has a journal of a committed generation by its new state; ignores other
// journals. A journal applies to one file of its directory.
void apply_journals(FileSystem& files, const std::vector<std::string>& journal_paths,
                    std::vector<FoundFile>& found);

// Opens the shard with its journals applied, for reading. Takes at most two descriptors, and one
// more during a read, however many undo journals there are. `files` must outlive the result. Fails
// with io.
Result<std::unique_ptr<File>> open_shard(FileSystem& files, const FoundShard& shard);

}  // namespace calpe::store
