// SPDX-License-Identifier: Apache-2.0
#include "store/tree/tree_files.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::store {

std::string TreeFiles::shown() const {
  if (tree_.file) return tree_.walk.full_name("");
  const std::string& path = tree_.manifest.entries[*entry_].path;
  return tree_.walk_of(path).full_name(path);
}

Error TreeFiles::changed() const {
  return make_error(ErrorCode::io, shown_path(shown()), " changed while it was read");
}

Status TreeFiles::check_unchanged() const {
  struct stat about = {};
  if (::fstat(descriptor(), &about) != 0) return system_error("access", shown());
  const FileIdentity& identity = tree_.identities[*entry_];
  const Entry& entry = tree_.manifest.entries[*entry_];
  const bool is_same = about.st_dev == identity.device && about.st_ino == identity.number &&
                       static_cast<std::uint64_t>(about.st_size) == entry.file_bytes &&
                       about.st_mtim.tv_sec == entry.seconds &&
                       static_cast<std::uint64_t>(about.st_mtim.tv_nsec) == entry.nanoseconds;
  if (!is_same) return changed();
  return Done{};
}

Status TreeFiles::open(std::size_t entry) {
  if (entry_ == entry) return Done{};
  CALPE_CHECK(close());
  if (!tree_.file) {
    const std::string& path = tree_.manifest.entries[entry].path;
    const SplitPath parts = split_path(path);
    const std::string name(parts.name);
    FolderWalk& walk = tree_.walk_of(path);
    CALPE_TRY(const int folder, walk.folder(parts.folder));
    // O_NONBLOCK, as the file may have been replaced by a pipe.
    open_ =
        Descriptor(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!open_) return system_error("open", walk.full_name(path));
  }
  entry_ = entry;
  ::posix_fadvise(descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return check_unchanged();
}

Status TreeFiles::close() {
  if (!entry_) return Done{};
  Status checked = check_unchanged();
  abandon();
  return checked;
}

void TreeFiles::abandon() {
  entry_.reset();
  open_ = Descriptor();
}

Result<std::size_t> TreeFiles::read_some(std::span<std::byte> bytes, std::uint64_t file_offset) {
  ssize_t got = -1;
  do {
    got = ::pread(descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(file_offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return system_error("read", shown());
  if (got == 0) return changed();  // file was truncated
  bytes_read_ += static_cast<std::uint64_t>(got);
  return static_cast<std::size_t>(got);
}

Status TreeFiles::read(std::size_t entry, std::span<std::byte> bytes, std::uint64_t file_offset) {
  CALPE_CHECK(open(entry));
  while (!bytes.empty()) {
    CALPE_TRY(const std::size_t got, read_some(bytes, file_offset));
    bytes = bytes.subspan(got);
    file_offset += got;
  }
  return Done{};
}

}  // namespace calpe::store
