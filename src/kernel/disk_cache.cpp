// SPDX-License-Identifier: Apache-2.0
#include "kernel/disk_cache.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "kernel/cache_folder.hpp"
#include "kernel/entry_file.hpp"
#include "kernel/identity.hpp"

namespace calpe::kernel {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view entry_suffix = ".kernel";
constexpr std::string_view unfinished_suffix = ".new";
// Longer than anybody takes to write one: its writer has died.
constexpr std::chrono::minutes unfinished_age_max(10);

struct StoredFile {
  fs::path path;
  fs::file_time_type used;
  std::uint64_t bytes = 0;
};

}  // namespace

Result<DiskCache> DiskCache::open(std::string folder, std::uint64_t bytes_max) {
  CALPE_CHECK(prepare_folder(folder));
  return DiskCache(std::move(folder), bytes_max);
}

std::string DiskCache::entry_path(std::string_view content) const {
  return text(folder_, "/", digest(content), entry_suffix);
}

Result<std::optional<DiskCache>> DiskCache::open(const CacheLocation& location) {
  if (location.folder.empty()) return std::optional<DiskCache>();
  Result<DiskCache> disk = open(location.folder);
  if (disk) return std::optional(*std::move(disk));
  if (!location.is_explicit) return std::optional<DiskCache>();
  return make_error(ErrorCode::backend_unavailable, "CALPE_CACHE_DIR: ", disk.error().message);
}

std::optional<std::string> DiskCache::find(std::string_view content) const {
  const std::string path = entry_path(content);
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return std::nullopt;
  std::optional<Entry> entry = unpack(*bytes);
  if (!entry) {
    remove_file(path);
    return std::nullopt;
  }
  if (entry->content != content) return std::nullopt;
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now; if not, it only leaves sooner
  return std::move(entry->object);
}

Status DiskCache::put(std::string_view content, std::string_view object) const {
  const std::string bytes = pack({.object = std::string(object), .content = std::string(content)});
  if (bytes.size() > bytes_max_) {
    return make_error(ErrorCode::io, "kernel has ", bytes.size(), " bytes, expected at most ",
                      bytes_max_, " in ", folder_);
  }
  CALPE_CHECK(replace_file(entry_path(content), bytes));
  trim();
  return Done{};
}

void DiskCache::trim() const {
  std::error_code error;
  std::vector<StoredFile> files;
  std::uint64_t bytes = 0;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    // Another process may remove any of them meanwhile: an error is a file that is gone.
    std::error_code gone;
    StoredFile file = {
        .path = at->path(), .used = at->last_write_time(gone), .bytes = at->file_size(gone)};
    if (gone) continue;
    if (file.path.extension() == unfinished_suffix && now - file.used > unfinished_age_max) {
      remove_file(file.path.string());
    }
    if (file.path.extension() != entry_suffix) continue;
    bytes += file.bytes;
    files.push_back(std::move(file));
  }
  std::ranges::sort(files, {}, &StoredFile::used);
  for (const StoredFile& file : files) {
    if (bytes <= bytes_max_) break;
    remove_file(file.path.string());
    bytes -= file.bytes;
  }
}

}  // namespace calpe::kernel
