// SPDX-License-Identifier: Apache-2.0
// Where the files of a manifest are, on the disk: the folder that was protected, or the one that
// the file is in. Below it no link is followed, whatever the manifest says.
#pragma once
#include <string>
#include <sys/stat.h>

#include "store/format/manifest.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

class OriginalPlace {
 public:
  // `original`: the file or folder, a path of the caller's. One that is not there, or empty, has no
  // entries.
  // Fails with io when it cannot be opened.
  static Result<OriginalPlace> open(const Manifest& manifest, const std::string& original);

  bool is_there() const noexcept { return walk_.top() >= 0; }
  // A manifest of one file: it may have been renamed since.
  bool is_single() const noexcept { return is_single_; }
  FolderWalk& walk() noexcept { return walk_; }
  // Below the walk's top.
  const std::string& path_of(const Entry& entry) const noexcept;
  std::string full_name(const Entry& entry) const { return walk_.full_name(path_of(entry)); }

  // A file to read. Not there, not below, or something else: no descriptor. Fails with io.
  Result<Descriptor> open_file(const Entry& entry);
  // False: nothing of that name. Fails with io.
  Result<bool> look_at(const Entry& entry, struct stat& about);
  Result<std::string> link_target(const Entry& entry);

 private:
  explicit OriginalPlace(FolderWalk walk) : walk_(std::move(walk)) {}
  // -1: not there, or no folder.
  Result<int> folder_of(const Entry& entry);

  FolderWalk walk_;
  bool is_single_ = false;
  std::string single_name_;
};

}  // namespace calpe::store
