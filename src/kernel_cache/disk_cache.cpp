// SPDX-License-Identifier: Apache-2.0
#include "kernel_cache/disk_cache.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/log.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "kernel_cache/cache_folder.hpp"
#include "kernel_cache/entry_file.hpp"
#include "kernel_cache/identity.hpp"

namespace calpe::kernel {

namespace {

constexpr std::string_view entry_suffix = ".kernel";
constexpr std::string_view unfinished_suffix = ".new";
// Longer than any write takes: the writer has died.
constexpr std::chrono::nanoseconds unfinished_age_max = std::chrono::minutes(10);

std::string entry_name(std::string_view content) {
  return text(digest(content), entry_suffix);
}

}  // namespace

Result<DiskCache> DiskCache::open(const std::string& folder, std::uint64_t bytes_max) {
  CALPE_TRY(PrivateFolder checked, prepare_folder(folder));
  return DiskCache(std::move(checked), bytes_max);
}

Result<std::optional<DiskCache>> DiskCache::open(const CacheLocation& location) {
  if (location.folder.empty()) return std::optional<DiskCache>();
  Result<DiskCache> disk = open(location.folder);
  if (disk) return std::optional(*std::move(disk));
  if (!location.is_explicit) {
    logging::write(text("compiled kernels are not cached: ", disk.error().message));
    return std::optional<DiskCache>();
  }
  return make_error(ErrorCode::backend_unavailable, "CALPE_CACHE_DIR: ", disk.error().message);
}

std::optional<std::string> DiskCache::find(std::string_view content) const {
  const std::string name = entry_name(content);
  const Result<std::string> bytes = folder_->read(name);
  if (!bytes) return std::nullopt;
  std::optional<Entry> entry = unpack(*bytes);
  if (!entry) {
    folder_->remove(name);
    return std::nullopt;
  }
  if (entry->content != content) return std::nullopt;
  folder_->mark_used(name);  // a failure only means earlier removal
  return std::move(entry->object);
}

Status DiskCache::put(std::string_view content, std::string_view object) const {
  const std::string bytes = pack({.object = std::string(object), .content = std::string(content)});
  if (bytes.size() > bytes_max_) {
    return make_error(ErrorCode::io, "kernel has ", bytes.size(), " bytes; expected at most ",
                      bytes_max_, " in ", folder());
  }
  CALPE_CHECK(folder_->replace(entry_name(content), bytes));
  trim();
  return Done{};
}

void DiskCache::trim() const {
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  std::vector<PrivateFolder::Entry> files;
  std::uint64_t bytes = 0;
  for (PrivateFolder::Entry& file : folder_->list()) {
    if (file.name.ends_with(unfinished_suffix) && now - file.used > unfinished_age_max.count()) {
      folder_->remove(file.name);
    }
    if (!file.name.ends_with(entry_suffix)) continue;
    bytes += file.bytes;
    files.push_back(std::move(file));
  }
  std::ranges::sort(files, {}, &PrivateFolder::Entry::used);
  for (const PrivateFolder::Entry& file : files) {
    if (bytes <= bytes_max_) break;
    folder_->remove(file.name);
    bytes -= file.bytes;
  }
}

}  // namespace calpe::kernel
