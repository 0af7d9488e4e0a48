// SPDX-License-Identifier: Apache-2.0
// Writes files and links under temporary names, syncs them and then renames them. A file under its
// final name is complete, even after a power failure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "store/tree/tree.hpp"
#include "store/tree/tree_content.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

enum class Earlier : std::uint8_t {
  none,
  complete,  // a file or link with the size and time of the entry
  filled,    // with zeros in place of lost bytes (filled_time.hpp)
  other,     // not of a restore
};

// A file that is being written in pieces.
struct BegunFile {
  Entry entry;
  std::string path;
  std::string temporary;
  Descriptor file = {};   // may be closed to save descriptors; write() and end() open it again
  bool replaces = false;  // a file that an earlier restore filled with zeros
};

class TreeOutput {
 public:
  // is_single: restores one file, so other pending writes of the file system need no sync.
  TreeOutput(FolderWalk& walk, const RestoreOptions& options, bool is_single);
  TreeOutput(const TreeOutput&) = delete;
  TreeOutput& operator=(const TreeOutput&) = delete;
  ~TreeOutput();  // removes files that were not renamed yet

  // Writes the entry to `path` below the walk's top; its directory must exist. Fails with io and as
  // the content.
  Status file(const Entry& entry, const std::string& path, ContentPieces& content);
  // The same in pieces, in any order and for several files at a time.
  Result<BegunFile> begin(const Entry& entry, const std::string& path);
  Status write(BegunFile& begun, std::uint64_t offset, std::span<const std::byte> bytes);
  Status end(BegunFile& begun);
  Status link(const Entry& entry, const std::string& path);
  // What an earlier restore left at the path. Fails with io.
  Result<Earlier> earlier(const Entry& entry, const std::string& path);
  // Compares a complete entry with the content. Fails with io and as the content.
  Result<bool> is_same(const Entry& entry, const std::string& path, ContentPieces& content);
  // Removes leftovers of interrupted restores and repairs from a directory, which keeps its time.
  static void remove_leftovers(int folder);
  // Removes the output of a failed file(), or of one that was begun and not ended.
  void discard(const std::string& path);
  // Renames all files and links to their final names.
  Status give_names();
  // Syncs the names and all changes to a directory. Call it for each changed directory unless
  // syncs_together().
  Status sync_folder(int folder, const std::string& path) const;
  Status sync_all() const;
  bool syncs_together() const noexcept { return syncs_together_; }

 private:
  struct Pending {
    std::string path;
    std::string temporary;
    bool replaces = false;  // a file that an earlier restore filled with zeros
  };
  void remove(const Pending& pending);
  std::string temporary_name();
  Status copy(BegunFile& begun, ContentPieces& content);
  Status open_again(BegunFile& begun);
  Status give_name(const Pending& pending);

  FolderWalk& walk_;
  const RestoreOptions& options_;
  bool syncs_together_ = false;
  dev_t device_ = 0;
  std::uint64_t secret_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t pending_bytes_ = 0;
  std::vector<Pending> pending_;
  std::vector<Pending> begun_;
};

// Sets mode and time, and the owner if requested. Without the owner, clears the set-user-ID and
// set-group-ID bits.
Status set_attributes(int file, const Entry& entry, const RestoreOptions& options,
                      const std::string& shown);

// invalid_argument: "... already exists; use --overwrite to replace it"
Error exists_error(const std::string& shown);

}  // namespace calpe::store
