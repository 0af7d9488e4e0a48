// SPDX-License-Identifier: Apache-2.0
// Redo journals beside shards, and what the shards are with them (docs/format.md, "A new
// generation").
#pragma once
#include <string>
#include <vector>

#include "store/find/redo_journal.hpp"
#include "store/find/shard_probe.hpp"

namespace calpe::store {

// By its name: what is not one then is found out when it is read.
bool is_named_as_journal(const std::string& path) noexcept;

// Replaces files by what they become where they have a journal of a generation that was decided
// on; other journals are as if not there.
void apply_journals(FileSystem& files, const std::vector<std::string>& journal_paths,
                    std::vector<FoundFile>& found);

// The shard as it is with its journal, to read. Fails with io.
Result<std::unique_ptr<File>> open_shard(FileSystem& files, const FoundShard& shard);

}  // namespace calpe::store
