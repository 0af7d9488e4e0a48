// SPDX-License-Identifier: Apache-2.0
#include "store/repair/finish_repair.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/read/new_shard_names.hpp"
#include "store/read/report.hpp"
#include "store/repair/finish_replacement.hpp"

namespace calpe::store {

Status name_temporaries(FileSystem& files, const OpenSet& shards, RepairReport& report) {
  std::set<std::string> folders;
  for (const ShardCopy& copy : shards.copies()) {
    if (!shards.is_original(copy)) folders.insert(folder_of(copy.found.path));
  }
  CALPE_CHECK(put_replaced_aside(files, shards.header(), folders));
  for (std::size_t index = 0; index < shards.shard_count(); ++index) {
    const auto copies = shards.copies_of(index);
    if (!has_only_temporary_names(copies) || shards.is_original(copies.front())) continue;
    const std::string& path = copies.front().found.path;
    const std::string folder = folder_of(path);
    CALPE_TRY(const NewName name,
              name_for_shard(files, shards.header(), static_cast<ShardIndex>(index), folder));
    CALPE_CHECK(files.rename(path, name.path));
    CALPE_CHECK(files.sync_folder(folder));
    report.files_created.push_back(name.path);
    if (name.is_taken) report.files_replaced.push_back(name.path);
  }
  return Done{};
}

Status check_found_complete(FileSystem& files, const ShardHeader& header,
                            const std::vector<std::string>& places) {
  std::string where;
  std::vector<std::string> readable;
  for (const std::string& place : std::set<std::string>(places.begin(), places.end())) {
    where += (where.empty() ? "" : ", ") + place;
    if (files.list(place)) readable.push_back(place);
  }
  CALPE_TRY(const Findings findings, find_sets(files, readable));
  const auto set =
      std::find_if(findings.sets.begin(), findings.sets.end(),
                   [&](const FoundSet& other) { return is_same_set(other.header, header); });
  const std::size_t shard_count = std::size_t{header.spec.data_shards} + header.spec.parity_shards;
  for (std::size_t index = 0; index < shard_count; ++index) {
    const bool is_there = set != findings.sets.end() &&
                          std::any_of(set->shards[index].begin(), set->shards[index].end(),
                                      [&](const FoundShard& shard) {
                                        return shard.front_header_good && shard.back_header_good &&
                                               is_size_good(header, shard);
                                      });
    if (is_there) continue;
    if (!findings.unreadable.empty())
      return make_error(ErrorCode::io, findings.unreadable.front(), "; run calpe repair again");
    return make_error(ErrorCode::io, where, ": shard ", index,
                      " was repaired, but is not found there; calpe info lists the files");
  }
  return Done{};
}

RepairReport end_repair(FileSystem& files, const OpenSet& shards, RepairReport report) {
  std::set<std::string> folders;
  for (const ShardCopy& copy : shards.copies()) {
    if (!shards.is_original(copy)) folders.insert(folder_of(copy.found.path));
  }
  for (const std::string& path : report.files_created) {
    folders.insert(folder_of(path));
  }
  for (const std::string& folder : folders) {
    remove_leftovers(files, shards.header(), folder);
  }
  return report;
}

}  // namespace calpe::store
