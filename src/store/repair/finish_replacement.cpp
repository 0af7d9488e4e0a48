// SPDX-License-Identifier: Apache-2.0
#include "store/repair/finish_replacement.hpp"

#include <algorithm>
#include <string_view>

#include "base/try.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/shard_probe.hpp"
#include "store/io/names.hpp"
#include "store/read/report.hpp"

namespace calpe::store {

namespace {

struct Candidate {
  std::string path;
  ShardHeader header;
};

bool is_older(const ShardHeader& other, const ShardHeader& header) {
  if (other.name != header.name) return false;
  return other.uuid != header.uuid || other.generation < header.generation;
}

bool is_aside_of(std::string_view name, const ShardHeader& header) {
  return name.starts_with(temporary_begin(header.uuid)) && name.ends_with(".old");
}

// Older shards with a name that protect uses.
std::vector<Candidate> list_older(FileSystem& files, const ShardHeader& header,
                                  const std::set<std::string>& folders) {
  std::vector<Candidate> all;
  for (const std::string& folder : folders) {
    const Result<std::vector<std::string>> names = files.list(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (!is_aside_of(name, header) && !is_shard_file_name(name, header.name)) continue;
      std::string path = in_folder(folder, name);
      const Result<std::optional<FoundFile>> found = look_at_file(files, path);
      if (!found || !*found || !is_older((*found)->header, header)) continue;
      all.push_back({std::move(path), (*found)->header});
    }
  }
  return all;
}

}  // namespace

ReplacedShards find_replaced(FileSystem& files, const ShardHeader& header,
                             const std::set<std::string>& folders) {
  ReplacedShards replaced;
  const std::vector<Candidate> all = list_older(files, header, folders);
  for (const Candidate& older : all) {
    if (!is_aside_of(name_of(older.path), header)) continue;
    replaced.asides.push_back(older.path);
    if (older.header.uuid != header.uuid) replaced.sets.insert(older.header.uuid);
  }
  for (const Candidate& older : all) {
    const bool is_named = !is_aside_of(name_of(older.path), header);
    if (is_named && replaced.sets.contains(older.header.uuid)) replaced.named.push_back(older.path);
  }
  return replaced;
}

Status hold_replaced(HeldFiles& files, const ShardHeader& header,
                     const std::set<std::string>& folders) {
  const ReplacedShards replaced = find_replaced(files, header, folders);
  for (const auto* paths : {&replaced.named, &replaced.asides}) {
    for (const std::string& path : *paths) {
      CALPE_TRY(const bool is_held, files.hold(path));
      if (!is_held) return locked_error(LockKind::exclusive);
    }
  }
  return Done{};
}

Status put_replaced_aside(FileSystem& files, const ShardHeader& header,
                          const std::set<std::string>& folders) {
  for (const std::string& path : find_replaced(files, header, folders).named) {
    CALPE_TRY(const std::optional<FoundFile> found, look_at_file(files, path));
    if (!found) continue;
    const std::string aside = aside_path(path, header.uuid, found->header.shard_index);
    CALPE_TRY(const std::vector<std::string> names, files.list(folder_of(path)));
    if (std::find(names.begin(), names.end(), name_of(aside)) != names.end()) continue;
    CALPE_CHECK(files.rename(path, aside));
    CALPE_CHECK(files.sync_folder(folder_of(path)));
  }
  return Done{};
}

Result<std::vector<std::string>> remove_replaced(FileSystem& files, const ShardHeader& header,
                                                 const std::set<std::string>& folders,
                                                 const std::vector<std::string>& places) {
  const ReplacedShards replaced = find_replaced(files, header, folders);
  std::vector<std::string> paths = replaced.named;
  // Last: as long as one exists, the new set is chosen.
  paths.insert(paths.end(), replaced.asides.begin(), replaced.asides.end());
  if (paths.empty()) return paths;
  std::vector<std::string> readable;
  for (const std::string& place : places) {
    if (files.list(place)) readable.push_back(place);
  }
  CALPE_TRY(const Findings findings, find_sets(files, readable));
  for (const FoundSet& set : findings.sets) {
    if (!replaced.sets.contains(set.header.uuid)) continue;
    for (const auto& copies : set.shards) {
      for (const FoundShard& shard : copies) {
        const bool is_listed =
            std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
              if (path == shard.path) return true;
              const auto one = files.identity(path);
              const auto other = files.identity(shard.path);
              return one && other && one->is_known() && *one == *other;
            });
        if (!is_listed) return std::vector<std::string>();
      }
    }
  }
  for (const Uuid& uuid : replaced.sets) {
    CALPE_CHECK(remove_temporaries(files, uuid, folders, undo_ending));
  }
  for (const std::string& path : paths) {
    CALPE_CHECK(files.remove(path));
  }
  return paths;
}

}  // namespace calpe::store
