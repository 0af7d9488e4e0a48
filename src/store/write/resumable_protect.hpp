// SPDX-License-Identifier: Apache-2.0
// What a protect that was killed has left in the targets: gone on with, or removed.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "store/write/checkpoint.hpp"

namespace calpe::store {

struct BegunSet {
  // As wanted, with uuid and groups of the set that can be gone on with. groups 0: there is none.
  Checkpoint at;
  std::vector<std::unique_ptr<File>> parts;  // by shard, locked
  // Files under temporary names of a set of the same name, with headers: as it was complete but had
  // not got its names, or was to be replaced. They go when there is another one.
  std::vector<std::string> superseded;
};

// Looks at the part files in the folders of `paths`, those of the shards to be. One with the digest
// of `wanted`, whose uuid must be that of `wanted` unless that is zeros, is taken if `may_resume`.
// Others are removed that nobody holds and that are of no use: of the same name, or without a
// record that somebody could go on from. Fails with io, and when another protect of the same name
// is at work in one of these folders.
Result<BegunSet> take_begun_set(FileSystem& files, const std::vector<std::string>& paths,
                                const Checkpoint& wanted, bool may_resume);

// For a protect whose part files are there, locked, and have records: of two that begin at the same
// time at least one sees the other. Fails with io when there is another one of this name.
Status check_alone(FileSystem& files, const std::vector<std::string>& paths, const Uuid& uuid,
                   const std::string& name);

}  // namespace calpe::store
