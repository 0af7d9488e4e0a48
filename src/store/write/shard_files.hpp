// SPDX-License-Identifier: Apache-2.0
// The files of a new set while it is made: temporary until all are complete, then all at once.
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
  // One file per path, in the order of shards, under a temporary name in the same folder, which is
  // there; locked, so that nobody takes them for leftovers. Fails with io.
  static Result<ShardFiles> create(FileSystem& files, const std::vector<std::string>& paths,
                                   const Uuid& uuid);
  // Those that a protect which was killed has left, opened and locked. They stay when this is
  // destroyed before own_parts().
  static ShardFiles go_on(FileSystem& files, const std::vector<std::string>& paths,
                          const Uuid& uuid, std::vector<std::unique_ptr<File>> parts);
  ShardFiles(ShardFiles&&) noexcept = default;
  ShardFiles& operator=(ShardFiles&&) = delete;
  ~ShardFiles();  // removes what is still temporary
  // Nothing can refuse the command any more: parts that were resumed are removed if it fails.
  void own_parts() noexcept;

  std::size_t count() const noexcept { return shards_.size(); }
  File& file(std::size_t shard) const noexcept { return *shards_[shard].file; }  // until publish()

  Status write_all(std::span<const Write> writes) const { return files_->write_all(writes); }

  // Data of all are on the disk; with helpers if there may be more than one thread.
  Status sync(unsigned jobs) const;
  Status sync_folders() const;

  // Gives the files, which must be synced, their names. What had these names is moved aside first
  // and removed last, so that whoever is killed in between leaves both sets complete, if under
  // other names: shards are found by their headers. Fails with io, and names and files are as
  // before then, unless the failure was that of removing what was moved aside.
  Status publish();

 private:
  struct Shard {
    std::string path;
    std::string temporary;
    std::string aside;
    std::unique_ptr<File> file = {};
    bool is_temporary = false;  // exists under that name
    bool is_aside = false;
    bool is_published = false;
  };
  explicit ShardFiles(FileSystem& files) : files_(&files) {}
  Shard name_shard(const std::string& path, const Uuid& uuid) const;  // the next one
  Status give_names();
  void take_names_back();

  FileSystem* files_;
  std::vector<Shard> shards_;
};

// Whether a file has this name. Fails with io, also when a folder has it.
Result<bool> is_name_taken(FileSystem& files, const std::string& path);
Status make_folders_of(FileSystem& files, const std::vector<std::string>& paths);

}  // namespace calpe::store
