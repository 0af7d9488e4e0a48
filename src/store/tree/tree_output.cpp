// SPDX-License-Identifier: Apache-2.0
#include "store/tree/tree_output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <random>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/io/names.hpp"
#include "store/tree/filled_time.hpp"
#include "store/tree/kept_file.hpp"

namespace calpe::store {

namespace {

// Syncing each file flushes the disk: 10,000 files of 4 KiB take 16 s or more on ext4, but 0.4 s
// when one syncfs() covers 1,024 of them.
constexpr std::size_t pending_files_max = 1024;
constexpr std::uint64_t pending_bytes_max = std::uint64_t{1} << 28U;
// From this size on the flush costs little compared with the data, and syncfs() could wait for
// unrelated data.
constexpr std::uint64_t big_file_bytes = std::uint64_t{1} << 24U;

// syncfs() reports lost data since Linux 5.8, and must reach the disk: on FUSE and similar file
// systems it ends at the server.
bool can_sync_together(int folder) {
  struct statfs about = {};
  struct utsname system = {};
  unsigned major = 0;
  unsigned minor = 0;
  if (::fstatfs(folder, &about) != 0 || ::uname(&system) != 0) return false;
  if (std::sscanf(system.release, "%u.%u", &major, &minor) != 2) return false;
  if (major < 5 || (major == 5 && minor < 8)) return false;
  constexpr std::array<std::uint64_t, 5> known = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,
                                                  BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC};
  return std::find(known.begin(), known.end(), static_cast<std::uint64_t>(about.f_type)) !=
         known.end();
}

bool is_big(const Entry& entry) {
  return entry.file_bytes >= big_file_bytes;
}

Status write_all(int file, std::span<const std::byte> bytes, std::uint64_t offset,
                 const std::string& shown) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error("write", shown);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return Done{};
}

std::array<timespec, 2> times_of(const Entry& entry) {
  return {timespec{.tv_sec = 0, .tv_nsec = UTIME_NOW},
          timespec{.tv_sec = entry.seconds, .tv_nsec = entry.nanoseconds}};
}

}  // namespace

Error exists_error(const std::string& shown) {
  return make_error(ErrorCode::invalid_argument, shown_path(shown),
                    " already exists; use --overwrite to replace it");
}

Status set_attributes(int file, const Entry& entry, const RestoreOptions& options,
                      const std::string& shown) {
  if (options.owners && ::fchown(file, entry.user, entry.group) != 0) {
    return system_error("set the owner of", shown);
  }
  const mode_t mode = entry.mode & (options.owners ? 07777U : 01777U);
  if (::fchmod(file, mode) != 0) return system_error("set the mode of", shown);
  if (::futimens(file, times_of(entry).data()) != 0) return system_error("set the time of", shown);
  return Done{};
}

TreeOutput::TreeOutput(FolderWalk& walk, const RestoreOptions& options, bool is_single)
    : walk_(walk), options_(options) {
  struct stat about = {};
  if (::fstat(walk.top(), &about) == 0) {
    device_ = about.st_dev;
    syncs_together_ = !is_single && can_sync_together(walk.top());
  }
  std::random_device random;
  secret_ = (std::uint64_t{random()} << 32U) | random();
}

TreeOutput::~TreeOutput() {
  for (const Pending& pending : pending_)
    remove(pending);
  for (const Pending& begun : begun_)
    remove(begun);
}

void TreeOutput::remove(const Pending& pending) {
  const auto folder = walk_.folder(split_path(pending.path).folder);
  if (folder) ::unlinkat(*folder, pending.temporary.c_str(), 0);
}

void TreeOutput::discard(const std::string& path) {
  const auto found = std::find_if(begun_.begin(), begun_.end(),
                                  [&](const Pending& begun) { return begun.path == path; });
  if (found == begun_.end()) return;
  remove(*found);
  begun_.erase(found);
}

Result<Earlier> TreeOutput::earlier(const Entry& entry, const std::string& path) {
  if (entry.type == EntryType::stream) return Earlier::other;  // streams have no time
  const SplitPath parts = split_path(path);
  CALPE_TRY(const int folder, walk_.folder(parts.folder));
  const std::string name(parts.name);
  struct stat about = {};
  if (::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return Earlier::none;
    return system_error("access", walk_.full_name(path));
  }
  const bool is_link = entry.type == EntryType::link;
  const bool is_complete = (is_link ? S_ISLNK(about.st_mode) : S_ISREG(about.st_mode)) &&
                           static_cast<std::uint64_t>(about.st_size) ==
                               (is_link ? entry.target.size() : entry.file_bytes) &&
                           about.st_mtim.tv_sec == entry.seconds &&
                           static_cast<std::uint64_t>(about.st_mtim.tv_nsec) == entry.nanoseconds;
  if (is_complete) return Earlier::complete;
  return has_filled_time(entry, about) ? Earlier::filled : Earlier::other;
}

Result<bool> TreeOutput::is_same(const Entry& entry, const std::string& path,
                                 ContentPieces& content) {
  const SplitPath parts = split_path(path);
  CALPE_TRY(const int folder, walk_.folder(parts.folder));
  return has_content(folder, std::string(parts.name), entry, walk_.full_name(path), content);
}

void TreeOutput::remove_leftovers(int folder) {
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return;
  struct stat about = {};
  const bool is_known = ::fstat(folder, &about) == 0;
  DIR* const listing = ::fdopendir(again);
  if (listing == nullptr) {
    ::close(again);
    return;
  }
  std::vector<std::string> names;
  for (const dirent* entry = ::readdir(listing); entry != nullptr; entry = ::readdir(listing)) {
    if (std::string_view(entry->d_name).starts_with(restore_prefix)) {
      names.emplace_back(entry->d_name);
    }
  }
  ::closedir(listing);
  for (const std::string& name : names)
    ::unlinkat(folder, name.c_str(), 0);
  if (names.empty() || !is_known) return;
  const std::array<timespec, 2> times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT},
                                         about.st_mtim};
  static_cast<void>(::futimens(folder, times.data()));  // harmless in a directory of another user
}

std::string TreeOutput::temporary_name() {
  return text(restore_prefix, secret_, "-", count_++);
}

Result<BegunFile> TreeOutput::begin(const Entry& entry, const std::string& path) {
  CALPE_TRY(const int folder, walk_.folder(split_path(path).folder));
  BegunFile begun = {.entry = entry, .path = path, .temporary = temporary_name()};
  // 0666: as a shell redirection.
  const mode_t mode = entry.type == EntryType::stream ? 0666 : 0600;
  begun.file = Descriptor(::openat(folder, begun.temporary.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!begun.file) return system_error("create a file for", walk_.full_name(path));
  begun_.push_back({.path = path, .temporary = begun.temporary});
  if (options_.resume) {
    CALPE_TRY(const Earlier before, earlier(entry, path));
    begun.replaces = before == Earlier::filled;
  }
  return begun;
}

Status TreeOutput::open_again(BegunFile& begun) {
  if (begun.file) return Done{};
  CALPE_TRY(const int folder, walk_.folder(split_path(begun.path).folder));
  begun.file =
      Descriptor(::openat(folder, begun.temporary.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!begun.file) return system_error("open the file for", walk_.full_name(begun.path));
  return Done{};
}

Status TreeOutput::write(BegunFile& begun, std::uint64_t offset, std::span<const std::byte> bytes) {
  CALPE_CHECK(open_again(begun));
  CALPE_CHECK(write_all(begun.file.get(), bytes, offset, walk_.full_name(begun.path)));
  // Start writeback now instead of at the sync.
  if (is_big(begun.entry)) {
    ::sync_file_range(begun.file.get(), static_cast<off_t>(offset),
                      static_cast<off_t>(bytes.size()), SYNC_FILE_RANGE_WRITE);
  }
  return Done{};
}

Status TreeOutput::copy(BegunFile& begun, ContentPieces& content) {
  for (const Extent& extent : begun.entry.extents) {
    std::uint64_t done = 0;
    while (done < extent.bytes) {
      CALPE_TRY(const auto piece, content.next(extent.content_offset + done, extent.bytes - done));
      CALPE_CHECK(write(begun, extent.file_offset + done, piece));
      done += piece.size();
    }
  }
  return Done{};
}

Status TreeOutput::file(const Entry& entry, const std::string& path, ContentPieces& content) {
  CALPE_TRY(BegunFile begun, begin(entry, path));
  CALPE_CHECK(copy(begun, content));
  return end(begun);
}

Status TreeOutput::end(BegunFile& begun) {
  CALPE_CHECK(open_again(begun));
  const Descriptor made = std::move(begun.file);
  const Entry& entry = begun.entry;
  const std::string shown = walk_.full_name(begun.path);
  const bool is_stream = entry.type == EntryType::stream;
  const auto bytes = static_cast<off_t>(entry.file_bytes);
  if (::ftruncate(made.get(), bytes) != 0) return system_error("set the size of", shown);
  if (!is_stream) CALPE_CHECK(set_attributes(made.get(), entry, options_, shown));
  if (!is_stream && options_.is_filled && options_.is_filled(entry)) {
    const std::array<timespec, 2> times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_NOW},
                                           filled_time(entry, std::time(nullptr))};
    if (::futimens(made.get(), times.data()) != 0) return system_error("set the time of", shown);
  }
  struct stat about = {};
  if (::fstat(made.get(), &about) != 0) return system_error("access", shown);
  // Another file system may be mounted below the directory.
  if (!syncs_together_ || about.st_dev != device_ || is_big(entry)) {
    if (::fsync(made.get()) != 0) return system_error("sync", shown);
  } else {
    pending_bytes_ += entry.file_bytes;
  }
  std::erase_if(begun_, [&](const Pending& one) { return one.temporary == begun.temporary; });
  pending_.push_back(
      {.path = begun.path, .temporary = begun.temporary, .replaces = begun.replaces});
  const bool is_much = pending_.size() >= pending_files_max || pending_bytes_ >= pending_bytes_max;
  return is_much && !options_.names_together ? give_names() : Done{};
}

Status TreeOutput::link(const Entry& entry, const std::string& path) {
  const std::string shown = walk_.full_name(path);
  CALPE_TRY(const int folder, walk_.folder(split_path(path).folder));
  const std::string name = temporary_name();
  if (::symlinkat(entry.target.c_str(), folder, name.c_str()) != 0) {
    return system_error("create link", shown);
  }
  pending_.push_back({.path = path, .temporary = name});
  if (options_.owners &&
      ::fchownat(folder, name.c_str(), entry.user, entry.group, AT_SYMLINK_NOFOLLOW) != 0) {
    return system_error("set the owner of", shown);
  }
  if (::utimensat(folder, name.c_str(), times_of(entry).data(), AT_SYMLINK_NOFOLLOW) != 0) {
    return system_error("set the time of", shown);
  }
  if (pending_.size() >= pending_files_max) return give_names();
  return Done{};
}

Status TreeOutput::give_name(const Pending& pending) {
  const SplitPath parts = split_path(pending.path);
  const std::string name(parts.name);
  const std::string shown = walk_.full_name(pending.path);
  CALPE_TRY(const int folder, walk_.folder(parts.folder));
  const char* from = pending.temporary.c_str();
  if (!options_.overwrite && !pending.replaces) {
    if (::renameat2(folder, from, folder, name.c_str(), RENAME_NOREPLACE) == 0) return Done{};
    if (errno == EEXIST) return exists_error(shown);
    if (errno != EINVAL && errno != ENOSYS) return system_error("rename to", shown);
    struct stat about = {};  // file system without RENAME_NOREPLACE
    if (::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0) {
      return exists_error(shown);
    }
  }
  if (::renameat(folder, from, folder, name.c_str()) != 0) return system_error("rename to", shown);
  return Done{};
}

Status TreeOutput::give_names() {
  if (syncs_together_ && !pending_.empty()) CALPE_CHECK(sync_all());
  // From the end, so that the failed entry and those before it stay listed for removal.
  while (!pending_.empty()) {
    CALPE_CHECK(give_name(pending_.back()));
    pending_.pop_back();
  }
  pending_bytes_ = 0;
  return Done{};
}

Status TreeOutput::sync_folder(int folder, const std::string& path) const {
  if (syncs_together_) return Done{};
  if (::fsync(folder) != 0) return system_error("sync directory", walk_.full_name(path));
  return Done{};
}

Status TreeOutput::sync_all() const {
  if (!syncs_together_) return Done{};
  if (::syncfs(walk_.top()) != 0) {
    return system_error("sync the file system of", walk_.full_name(""));
  }
  return Done{};
}

}  // namespace calpe::store
