// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/target_space.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mntent.h>
#include <set>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/text.hpp"
#include "calpe/cli/progress_bar.hpp"
#include "store/format/manifest.hpp"
#include "store/io/names.hpp"

namespace calpe::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t stat_block_bytes = 512;

// The directory, or the lowest one above it that exists.
fs::path existing(const std::string& folder) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(folder, error);
  if (error || path.empty()) path = fs::absolute(folder, error);
  while (!fs::is_directory(path, error) && path.has_relative_path())
    path = path.parent_path();
  return path;
}

std::uint64_t part_bytes(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    struct stat about = {};
    if (!store::is_temporary(name) || !name.ends_with(".part")) continue;
    if (::stat(entry->path().c_str(), &about) == 0)
      bytes += static_cast<std::uint64_t>(about.st_blocks) * stat_block_bytes;
  }
  return bytes;
}

struct FileSystemUse {
  std::string folder;  // the first one, for messages
  std::uint64_t wanted = 0;
  std::uint64_t free = 0;
  std::set<fs::path> seen = {};
};

bool is_below(const fs::path& path, const fs::path& above) {
  const auto [end, rest] = std::mismatch(above.begin(), above.end(), path.begin(), path.end());
  return end == above.end();
}

bool is_mounted(const fs::path& point) {
  struct stat own = {};
  struct stat above = {};
  if (::stat(point.c_str(), &own) != 0 || ::stat((point / "..").c_str(), &above) != 0) return false;
  return own.st_dev != above.st_dev;
}

struct EndEntries {
  void operator()(std::FILE* file) const noexcept { ::endmntent(file); }
};

}  // namespace

Status check_space(const std::vector<PlannedWrite>& writes) {
  std::map<dev_t, FileSystemUse> uses;
  for (const PlannedWrite& write : writes) {
    const fs::path folder = existing(write.folder);
    struct stat about = {};
    struct statvfs space = {};
    if (::stat(folder.c_str(), &about) != 0 || ::statvfs(folder.c_str(), &space) != 0) continue;
    if (space.f_blocks == 0) continue;
    FileSystemUse& use = uses[about.st_dev];
    if (use.seen.empty()) {
      use.folder = write.folder;
      use.free = std::uint64_t{space.f_bavail} * space.f_frsize;
    }
    if (use.seen.insert(folder).second) use.free += part_bytes(folder);
    use.wanted += write.bytes;
  }
  for (const auto& [device, use] : uses) {
    if (use.wanted <= use.free) continue;
    return make_error(ErrorCode::io, use.folder, ": ", bytes_text(use.free),
                      " are free on this file system, but the shards need ", bytes_text(use.wanted),
                      "; free some space, use another -o, or write them anyway with "
                      "--no-space-check");
  }
  return Done{};
}

std::string unmounted_note(const std::string& folder, const std::string& fstab) {
  const std::unique_ptr<std::FILE, EndEntries> list(::setmntent(fstab.c_str(), "r"));
  if (!list) return {};
  const fs::path path = existing(folder);
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(folder, error);
  while (const mntent* entry = ::getmntent(list.get())) {
    const fs::path point = fs::path(entry->mnt_dir).lexically_normal();
    if (!point.is_absolute() || !point.has_relative_path()) continue;  // "none", or "/"
    if (!is_below(error ? path : whole, point) || is_mounted(point)) continue;
    return text(entry->mnt_dir, " is a mount point in ", fstab, ", but nothing is mounted there; ",
                folder, " would be on the file system above it");
  }
  return {};
}

}  // namespace calpe::tools
