// SPDX-License-Identifier: Apache-2.0
#include "array/members/member_scan.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <utility>

#include "array/members/disk_contents.hpp"

namespace calpe::array {

namespace {

namespace fs = std::filesystem;
constexpr std::size_t entries_max = 4096;
constexpr off_t superblocks_bytes = 2 * block_bytes;

// The entries of a directory, or the path itself.
std::vector<std::string> sorted_paths(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return {folder};
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (paths.size() == entries_max) break;
    // "." came from a path without a directory, which is shown as it was given.
    paths.push_back(folder == "." ? at->path().filename().string() : at->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::vector<ScannedMember> scan_places(std::span<const std::string> places) {
  std::vector<ScannedMember> found;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const std::string& place : places) {
    for (const std::string& path : sorted_paths(place)) {
      struct stat status = {};
      if (::stat(path.c_str(), &status) != 0) continue;
      const bool is_disk = S_ISBLK(status.st_mode);
      if (!is_disk && (!S_ISREG(status.st_mode) || status.st_size < superblocks_bytes)) continue;
      const auto identity = is_disk ? std::pair(dev_t{0}, static_cast<ino_t>(status.st_rdev))
                                    : std::pair(status.st_dev, status.st_ino);
      if (!seen.insert(identity).second) continue;
      auto superblock = superblock_of(path);
      if (superblock && *superblock) found.push_back({path, **std::move(superblock)});
    }
  }
  return found;
}

std::vector<std::string> folders_of(std::span<const std::string> paths) {
  std::vector<std::string> folders;
  for (const std::string& path : paths) {
    const std::string parent = fs::path(path).parent_path().string();
    const std::string folder = parent.empty() ? "." : parent;
    if (std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  }
  return folders;
}

}  // namespace calpe::array
