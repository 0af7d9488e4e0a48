// SPDX-License-Identifier: Apache-2.0
// Locates the files of a manifest on disk, below the protected directory or next to the protected
// file. Links below it are never followed, whatever the manifest says.
#pragma once
#include <string>
#include <sys/stat.h>

#include "store/format/manifest.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

class OriginalPlace {
 public:
  // `original`: path of the file or directory. If it is empty or does not exist, all entries are
  // missing. Fails with io when it cannot be opened.
  static Result<OriginalPlace> open(const Manifest& manifest, const std::string& original);

  bool is_there() const noexcept { return walk_.top() >= 0; }
  // True for a manifest of one file, which may have been renamed since.
  bool is_single() const noexcept { return is_single_; }
  FolderWalk& walk() noexcept { return walk_; }
  // Path of the entry, relative to the top of the walk.
  const std::string& path_of(const Entry& entry) const noexcept;
  std::string full_path(const std::string& path) const { return walk_.full_name(path); }
  std::string full_name(const Entry& entry) const { return full_path(path_of(entry)); }

  // Opens a file for reading. Returns no descriptor if it is missing, reached through a link, or
  // not a file. Fails with io.
  Result<Descriptor> open_file(const Entry& entry) { return open_path(path_of(entry)); }
  // The same for a path below the top of the walk.
  Result<Descriptor> open_path(const std::string& path);
  // Returns false if nothing has that name. Fails with io.
  Result<bool> look_at(const Entry& entry, struct stat& about);
  Result<std::string> link_target(const Entry& entry);

 private:
  explicit OriginalPlace(FolderWalk walk) : walk_(std::move(walk)) {}
  // Returns -1 if the directory of `path` is missing or not a directory.
  Result<int> folder_of(const std::string& path);

  FolderWalk walk_;
  bool is_single_ = false;
  std::string single_name_;
};

}  // namespace calpe::store
