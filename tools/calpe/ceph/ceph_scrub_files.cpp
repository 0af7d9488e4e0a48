// SPDX-License-Identifier: Apache-2.0
#include "calpe/ceph/ceph_scrub_files.hpp"

#include <charconv>
#include <filesystem>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::tools {

namespace {

struct ShardName {
  std::string stem;
  ShardIndex shard = 0;
};

// Splits a name: "photo.3" is shard 3 of photo.
std::optional<ShardName> shard_name(const std::string& path) {
  const std::string name(store::name_of(path));
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == name.size()) return std::nullopt;
  ShardIndex shard = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, status] = std::from_chars(name.data() + dot + 1, end, shard);
  if (status != std::errc() || stop != end || shard >= byte_shard_count_max) return std::nullopt;
  return ShardName{name.substr(0, dot), shard};
}

// Returns false if the file is neither named like a shard nor an export.
Result<bool> add_path(ScrubGroups& groups, const std::string& path) {
  CALPE_TRY(const std::unique_ptr<store::File> file, store::posix_files().open(path));
  CALPE_TRY(const bool is_export, ceph::is_ceph_export(*file));
  if (is_export) {
    CALPE_TRY(ceph::CephExport found, ceph::read_ceph_export(*file));
    groups.add_export(path, "", std::move(found));
    return true;
  }
  const std::optional<ShardName> name = shard_name(path);
  if (name) groups.add_file(name->stem, name->shard, path);
  return name.has_value();
}

}  // namespace

Result<std::vector<ScrubObject>> find_objects(const FilesArguments& arguments) {
  ScrubGroups groups;
  std::vector<std::string> paths = arguments.paths;
  if (paths.empty()) paths.emplace_back(".");
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      CALPE_TRY(const bool is_added, add_path(groups, path));
      if (is_added) continue;
      return invalid(path, ": not a shard; expected a name such as object.0 or a file written by ",
                     "ceph-objectstore-tool --op export");
    }
    CALPE_TRY(const std::vector<std::string> names, store::posix_files().list(path));
    for (const std::string& name : names) {
      const std::string inside = store::in_folder(path, name);
      if (!std::filesystem::is_regular_file(inside, error)) continue;
      const Result<bool> added = add_path(groups, inside);
      if (!added) print_note(arguments, text(added.error().message, "; not used"));
    }
  }
  std::vector<ScrubObject> objects = groups.take();
  if (!objects.empty()) return objects;
  return invalid("no shards in ", paths.front(), paths.size() > 1 ? " or the other paths" : "",
                 "; expected files such as object.0 and object.1, or exports of placement groups "
                 "(use --osd to read stopped OSDs)");
}

Status write_new(const std::string& folder, const std::string& name,
                 std::span<const std::byte> bytes) {
  CALPE_CHECK(store::posix_files().make_folders(folder));
  CALPE_TRY(const std::unique_ptr<store::File> file,
            store::posix_files().create(store::in_folder(folder, name)));
  CALPE_CHECK(file->write_at(bytes, 0));
  return file->sync();
}

Status rewrite(const std::string& path, std::span<const std::byte> bytes) {
  CALPE_TRY(const std::unique_ptr<store::File> file, store::posix_files().open_to_change(path));
  CALPE_CHECK(file->write_at(bytes, 0));
  CALPE_CHECK(file->resize(bytes.size()));
  return file->sync();
}

}  // namespace calpe::tools
