// SPDX-License-Identifier: Apache-2.0
// The files of a new set while it is created: temporary until all are complete, then renamed
// together.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "store/format/shard_header.hpp"
#include "store/io/file_system.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

class ShardFiles {
 public:
  // Creates one file per path, in the order of shards, under a temporary name in the same
  // directory, which must exist. Locks them, so that no other command removes them as leftovers.
  // `first`: index of the first shard. Fails with io.
  static Result<ShardFiles> create(FileSystem& files, const std::vector<std::string>& paths,
                                   const Uuid& uuid, ShardIndex first);
  // Takes the opened and locked files of an interrupted protect. They are kept if this object is
  // destroyed before own_parts().
  static ShardFiles go_on(FileSystem& files, const std::vector<std::string>& paths,
                          const Uuid& uuid, ShardIndex first,
                          std::vector<std::unique_ptr<File>> parts);
  ShardFiles(ShardFiles&&) noexcept = default;
  ShardFiles& operator=(ShardFiles&&) = delete;
  ~ShardFiles();  // removes the files that are still temporary
  // Call when the command can no longer be refused: resumed parts are then removed on failure.
  void own_parts() noexcept;
  void leave_parts() noexcept;  // for a later run

  std::size_t count() const noexcept { return shards_.size(); }
  File& file(std::size_t shard) const noexcept { return *shards_[shard].file; }  // until publish()

  Status write_all(std::span<const Write> writes) const { return files_->write_all(writes); }

  // Syncs the data of all files, in parallel if jobs > 1.
  Status sync(unsigned jobs) const;
  Status sync_folders() const;

  // Renames the synced files to their final names. Existing files with these names are moved aside
  // first and removed last. An interruption leaves both sets complete, possibly under other names:
  // shards are found by their headers. Fails with io and then restores all names and files, unless
  // removing the old files failed.
  Status publish();

 private:
  struct Shard {
    std::string path;
    std::string temporary;
    std::string aside;
    std::unique_ptr<File> file = {};
    bool is_temporary = false;  // exists under its temporary name
    bool is_aside = false;
    bool is_published = false;
  };
  ShardFiles(FileSystem& files, ShardIndex first) : files_(&files), first_(first) {}
  Shard name_shard(const std::string& path, const Uuid& uuid) const;  // the next one
  Status give_names();
  void take_names_back();

  FileSystem* files_;
  ShardIndex first_;
  std::vector<Shard> shards_;
};

// True if a file has this name. Fails with io, also when a directory has it.
Result<bool> is_name_taken(FileSystem& files, const std::string& path);
Status make_folders_of(FileSystem& files, const std::vector<std::string>& paths);

}  // namespace calpe::store
