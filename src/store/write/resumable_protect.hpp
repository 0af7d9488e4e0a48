// SPDX-License-Identifier: Apache-2.0
// Finds the partial output of an interrupted protect in the targets, to resume or remove it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "store/write/checkpoint.hpp"

namespace calpe::store {

struct BegunSet {
  // `wanted` with the uuid and groups of the set to resume. groups 0: nothing to resume.
  Checkpoint at;
  std::vector<std::unique_ptr<File>> parts;  // by shard, locked
  // Temporary files with headers of a set of the same name, which was complete but not renamed, or
  // was about to be replaced. Remove them once another set is complete.
  std::vector<std::string> superseded;
};

// Examines the part files in the directories of `paths`, the future shards. Takes those with the
// digest of `wanted`, if `may_resume`; their uuid must match that of `wanted` unless that is zeros.
// Removes other unlocked parts that are useless: of the same name, or without a record to resume
// from. Fails with io, and when another protect of the same name is running in one of these
// directories.
Result<BegunSet> take_begun_set(FileSystem& files, const std::vector<std::string>& paths,
                                const Checkpoint& wanted, bool may_resume);

// Call when the part files exist, are locked, and have records: if two commands start at the same
// time, at least one sees the other. Fails with io when another protect of this name is running.
Status check_alone(FileSystem& files, const std::vector<std::string>& paths, const Uuid& uuid,
                   const std::string& name);

}  // namespace calpe::store
