// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/replaced_sets.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/shard_probe.hpp"
#include "store/io/file_system.hpp"
#include "store/io/names.hpp"

namespace calpe::tools {

namespace {

namespace fs = std::filesystem;

// Undo journals of sets that no longer exist. What cannot be removed does no harm.
void remove_undo(store::FileSystem& files, const std::vector<std::string>& shards,
                 const std::set<Uuid>& sets) {
  std::set<std::string> folders;
  for (const std::string& path : shards)
    folders.insert(store::folder_of(path));
  for (const Uuid& uuid : sets)
    static_cast<void>(store::remove_temporaries(files, uuid, folders, store::undo_ending));
}

}  // namespace

Result<std::vector<std::string>> find_older(const std::vector<std::string>& targets,
                                            const std::string& name) {
  std::vector<std::string> older;
  for (const std::string& target : targets) {
    std::error_code error;
    for (fs::directory_iterator entry(target, error), end; !error && entry != end;
         entry.increment(error)) {
      if (store::is_shard_file_name(entry->path().filename().string(), name))
        older.push_back(entry->path().string());
    }
    if (error && error != std::errc::no_such_file_or_directory)
      return make_error(ErrorCode::io, "cannot list ", target, ": ", error.message());
  }
  std::sort(older.begin(), older.end());
  return older;
}

ReplacedSets look_at_older(store::FileSystem& files, const std::vector<std::string>& older) {
  ReplacedSets sets;
  for (const std::string& path : older) {
    const auto found = store::look_at_file(files, path);
    if (found && *found) sets[path] = (*found)->header.uuid;
  }
  return sets;
}

std::vector<std::string> remove_replaced(store::FileSystem& files,
                                         const std::vector<std::string>& older,
                                         const ReplacedSets& sets,
                                         const std::vector<std::string>& written) {
  std::set<fs::path> names;
  for (const std::string& path : written)
    names.insert(fs::path(path).lexically_normal());
  const auto is_written = [&](const std::string& path) {
    return names.contains(fs::path(path).lexically_normal());
  };
  std::set<Uuid> replaced;
  for (const auto& [path, uuid] : sets) {
    if (is_written(path)) replaced.insert(uuid);
  }
  remove_undo(files, older, replaced);
  std::vector<std::string> left;
  for (const std::string& path : older) {
    if (is_written(path)) continue;
    const auto set = sets.find(path);
    const bool is_replaced = set != sets.end() && replaced.contains(set->second);
    if (!is_replaced || !files.remove(path)) left.push_back(path);
  }
  return left;
}

}  // namespace calpe::tools
