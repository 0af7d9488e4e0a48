// SPDX-License-Identifier: Apache-2.0
#include "store/find/unused_journals.hpp"

#include "base/try.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

namespace {

std::set<std::string> journals_of_newer(const Findings& findings, const ShardHeader& header) {
  std::set<std::string> journals;
  for (const FoundSet& set : findings.sets) {
    const bool is_newer =
        set.header.uuid == header.uuid && set.header.generation > header.generation;
    if (!is_newer) continue;
    for (const auto& copies : set.shards) {
      for (const FoundShard& shard : copies) {
        if (!shard.journal.empty()) journals.insert(shard.journal);
      }
    }
  }
  return journals;
}

}  // namespace

Status remove_unused_journals(FileSystem& files, const ShardHeader& header,
                              const std::set<std::string>& folders,
                              const std::vector<std::string>& places) {
  std::set<std::string> searched = folders;
  for (const std::string& place : places) {
    if (files.list(place)) searched.insert(place);
  }
  CALPE_TRY(const Findings findings, find_sets(files, {searched.begin(), searched.end()}));
  return remove_temporaries(files, header.uuid, folders, redo_ending,
                            journals_of_newer(findings, header));
}

}  // namespace calpe::store
