// SPDX-License-Identifier: Apache-2.0
#include "store/read/new_shard_names.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/shard_probe.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

namespace {

constexpr std::string_view temporary_ending = ".repair";

bool is_of_value(const ShardHeader& header, const std::optional<FoundFile>& occupant,
                 bool is_proven) {
  if (!occupant) return false;
  // A higher generation proves nothing: write access to one file is enough to forge it.
  const RootKind root = occupant->header.root_kind;
  if (root != RootKind::none && (!is_proven || root != header.root_kind)) return true;
  const bool is_stale =
      occupant->header.uuid == header.uuid && occupant->header.generation < header.generation;
  return !is_stale;
}

bool has_path(const FoundSet& set, const std::string& path) {
  return std::any_of(set.shards.begin(), set.shards.end(), [&](const auto& copies) {
    return std::any_of(copies.begin(), copies.end(),
                       [&](const FoundShard& shard) { return shard.path == path; });
  });
}

}  // namespace

Result<NewName> name_for_shard(FileSystem& files, const ShardHeader& header, ShardIndex index,
                               const std::string& folder, bool is_proven) {
  CALPE_TRY(const std::vector<std::string> names, files.list(folder));
  // Terminates, as a directory has finitely many names.
  for (std::size_t attempt = 0;; ++attempt) {
    const std::string name =
        shard_file_name(attempt == 0 ? header.name : text(header.name, "-", attempt), index);
    const std::string path = in_folder(folder, name);
    if (std::find(names.begin(), names.end(), name) == names.end()) return NewName{path, false};
    CALPE_TRY(const std::optional<FoundFile> occupant, look_at_file(files, path));
    if (!is_of_value(header, occupant, is_proven)) return NewName{path, true};
  }
}

std::string temporary_name(const std::string& path, const FoundSet& set, ShardIndex index,
                           std::size_t number) {
  const std::string begin =
      text(folder_of(path), "/", temporary_begin(set.header.uuid), index, "-", number);
  std::string name = text(begin, temporary_ending);
  for (std::size_t attempt = 1; has_path(set, name); ++attempt) {
    name = text(begin, "-", attempt, temporary_ending);
  }
  return name;
}

void remove_leftovers(FileSystem& files, const ShardHeader& header, const std::string& folder) {
  const Result<std::vector<std::string>> names = files.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(temporary_begin(header.uuid)) || !name.ends_with(temporary_ending))
      continue;
    const std::string path = in_folder(folder, name);
    const Result<std::optional<FoundFile>> found = look_at_file(files, path);
    if (!found || (*found && !is_same_set((*found)->header, header))) continue;
    static_cast<void>(files.remove(path));
  }
}

}  // namespace calpe::store
