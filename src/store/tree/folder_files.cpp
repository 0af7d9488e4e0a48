// SPDX-License-Identifier: Apache-2.0
#include "store/tree/folder_files.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"

namespace calpe::store {

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

Result<std::vector<std::string>> sorted_names(int folder, const std::string& shown) {
  // Needs its own descriptor: fdopendir takes ownership, and a dup would share the position.
  Descriptor own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own) return system_error("open directory", shown);
  const std::unique_ptr<DIR, CloseFolder> list(::fdopendir(own.get()));
  if (!list) return system_error("list", shown);
  own.release();
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* found = ::readdir(list.get());
    if (found == nullptr) break;
    std::string name = found->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  if (errno != 0) return system_error("list", shown);
  std::sort(names.begin(), names.end());  // char_traits compares as unsigned bytes
  return names;
}

std::vector<FolderFile> files_below(FolderWalk& walk, Depth depth) {
  std::vector<FolderFile> files;
  std::vector<std::string> folders = {""};  // still to be listed
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    const Result<int> opened = walk.folder(folder);
    if (!opened) continue;
    const auto names = sorted_names(*opened, walk.full_name(folder));
    if (!names) continue;
    for (const std::string& name : *names) {
      struct stat about = {};
      if (::fstatat(*opened, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
      std::string path = folder.empty() ? name : text(folder, "/", name);
      if (S_ISREG(about.st_mode)) {
        files.push_back({.path = std::move(path),
                         .bytes = static_cast<std::uint64_t>(about.st_size),
                         .seconds = about.st_mtim.tv_sec,
                         .nanoseconds = static_cast<std::uint32_t>(about.st_mtim.tv_nsec)});
      } else if (S_ISDIR(about.st_mode) && depth == Depth::all) {
        folders.push_back(std::move(path));
      }
    }
  }
  return files;
}

}  // namespace calpe::store
