// SPDX-License-Identifier: Apache-2.0
#include "store/tree/in_place_path.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "base/try.hpp"
#include "store/io/file_system.hpp"
#include "store/tree/tree_difference.hpp"

namespace calpe::store {

namespace {

// True if nothing is there, or a component is not a directory or, with O_NOFOLLOW, a link.
bool is_missing(int number) {
  return number == ENOENT || number == ENOTDIR || number == ELOOP || number == ENXIO;
}

}  // namespace

Result<OriginalPlace> OriginalPlace::open(const Manifest& manifest, const std::string& original) {
  std::string path = original;
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  const bool is_single = is_single_file(manifest);
  const std::string top = is_single ? store::folder_of(path) : path;
  Descriptor opened;
  if (!path.empty()) {
    opened = Descriptor(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened && !is_missing(errno)) return system_error("open directory", top);
  }
  OriginalPlace place(FolderWalk(std::move(opened), top));
  place.is_single_ = is_single;
  if (is_single) place.single_name_ = name_of(path);
  return place;
}

const std::string& OriginalPlace::path_of(const Entry& entry) const noexcept {
  return is_single_ ? single_name_ : entry.path;
}

Result<int> OriginalPlace::folder_of(const std::string& path) {
  if (!is_there()) return -1;
  errno = 0;
  Result<int> folder = walk_.folder(split_path(path).folder);
  if (!folder && is_missing(errno)) return -1;
  return folder;
}

Result<Descriptor> OriginalPlace::open_path(const std::string& path) {
  CALPE_TRY(const int folder, folder_of(path));
  if (folder < 0) return Descriptor();
  const std::string name(split_path(path).name);
  // O_NONBLOCK, as the file may have been replaced by a pipe.
  Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (is_missing(errno)) return Descriptor();
    return system_error("open", full_path(path));
  }
  struct stat about = {};
  if (::fstat(file.get(), &about) != 0) return system_error("access", full_path(path));
  return S_ISREG(about.st_mode) ? std::move(file) : Descriptor();
}

Result<bool> OriginalPlace::look_at(const Entry& entry, struct stat& about) {
  CALPE_TRY(const int folder, folder_of(path_of(entry)));
  if (folder < 0) return false;
  const std::string name(split_path(path_of(entry)).name);
  const int done = name.empty() ? ::fstat(folder, &about)
                                : ::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW);
  if (done == 0) return true;
  if (is_missing(errno)) return false;
  return system_error("access", full_name(entry));
}

Result<std::string> OriginalPlace::link_target(const Entry& entry) {
  CALPE_TRY(const int folder, folder_of(path_of(entry)));
  const std::string name(split_path(path_of(entry)).name);
  // One byte more than expected, to detect a longer target.
  std::string target(entry.target.size() + 1, '\0');
  const ssize_t got =
      folder < 0 ? -1 : ::readlinkat(folder, name.c_str(), target.data(), target.size());
  if (got < 0) return system_error("read link", full_name(entry));
  target.resize(static_cast<std::size_t>(got));
  return target;
}

}  // namespace calpe::store
