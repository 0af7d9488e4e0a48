// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/original_paths.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.hpp"
#include "store/io/file_system.hpp"

namespace calpe::tools {

namespace fs = std::filesystem;

Result<std::string> original_of(const std::string& given, const store::FoundSet& set) {
  if (!given.empty()) return given;
  const std::string& name = set.header.name;
  if (name.empty()) return invalid("the set has no name to look for; give --original");
  std::vector<std::string> places;
  for (const auto& copies : set.shards) {
    for (const store::FoundShard& shard : copies) {
      std::string folder = store::folder_of(shard.path);
      std::string place = store::in_folder(folder, name);
      if (std::find(places.begin(), places.end(), place) == places.end())
        places.push_back(std::move(place));
    }
  }
  std::string looked;
  for (const std::string& place : places) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(place, error);
    if (fs::is_symlink(status))
      return invalid(place, " is a symbolic link; give the path of the original with --original");
    if (fs::exists(status)) return place;
    looked += (looked.empty() ? "" : ", ") + place;
  }
  if (places.size() == 1) return places.front();
  return invalid("the original is not next to its parity files (", looked,
                 "); give its path with --original");
}

Status check_original_found(const store::FoundSet& set, const store::VerifyReport& report) {
  if (report.is_repairable() || !report.is_original_absent) return Done{};
  return invalid("no file of the set is in ", set.original, "; give its path with --original");
}

Result<OriginalName> original_name(const std::string& source) {
  std::string path = source;
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  std::error_code error;
  const std::string last = fs::path(path).filename().string();
  const bool is_plain = !last.empty() && last != "." && last != ".." &&
                        !fs::is_symlink(fs::symlink_status(path, error));
  // Links are not followed later.
  if (!is_plain) {
    path = fs::canonical(source, error).string();
    if (error) return make_error(ErrorCode::io, "cannot read ", source, ": ", error.message());
  }
  OriginalName name = {.folder = store::folder_of(path), .name = std::string(store::name_of(path))};
  if (name.name.empty())
    return invalid(source, " is not in a directory that can hold parity files");
  return name;
}

}  // namespace calpe::tools
