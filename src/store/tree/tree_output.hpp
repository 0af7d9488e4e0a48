// SPDX-License-Identifier: Apache-2.0
// Files and links written under temporary names, synced, and only then given their names: what has
// its name is complete, whenever the machine stops.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "store/tree/tree.hpp"
#include "store/tree/tree_content.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

class TreeOutput {
 public:
  // is_single: one file; what else the file system has to write does not matter to it.
  TreeOutput(FolderWalk& walk, const RestoreOptions& options, bool is_single);
  TreeOutput(const TreeOutput&) = delete;
  TreeOutput& operator=(const TreeOutput&) = delete;
  ~TreeOutput();  // removes what has no name yet

  // At `path` below the walk's folder, whose folder is there. Fails with io and as the content.
  Status file(const Entry& entry, const std::string& path, ContentPieces& content);
  Status link(const Entry& entry, const std::string& path);
  // Whether a file or link with the size and time of the entry is there. Fails with io.
  Result<bool> is_there(const Entry& entry, const std::string& path);
  // Removes what a restore that was killed has left in a folder.
  static void remove_leftovers(int folder);
  // Removes what a failed file() began.
  void discard(const std::string& path);
  // All files and links have their names then.
  Status give_names();
  // Names, and all that was done to folders, are on the disk. `folder` is one that was changed: all
  // must be told unless syncs_together().
  Status sync_folder(int folder, const std::string& path) const;
  Status sync_all() const;
  bool syncs_together() const noexcept { return syncs_together_; }

 private:
  struct Pending {
    std::string path;
    std::string temporary;
  };
  void remove(const Pending& pending);
  std::string temporary_name();
  Result<Descriptor> create(const std::string& path, mode_t mode);
  Status copy(const Entry& entry, int file, const std::string& path, ContentPieces& content);
  Status give_name(const Pending& pending);

  FolderWalk& walk_;
  const RestoreOptions& options_;
  bool syncs_together_ = false;
  dev_t device_ = 0;
  std::uint64_t secret_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t pending_bytes_ = 0;
  std::vector<Pending> pending_;
};

// Owner if asked for, mode and time. Without the owner no bits that lend an owner's rights.
Status set_attributes(int file, const Entry& entry, const RestoreOptions& options,
                      const std::string& shown);

// invalid_argument: "... exists; --overwrite replaces what does"
Error exists_error(const std::string& shown);

}  // namespace calpe::store
