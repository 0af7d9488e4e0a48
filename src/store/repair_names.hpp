// SPDX-License-Identifier: Apache-2.0
// Names for the files that repair makes, such that nothing of value is overwritten.
#pragma once
#include <string>
#include <vector>

#include "store/found_set.hpp"

namespace calpe::store {

struct NewName {
  std::string path;
  bool is_taken = false;  // by something that may go: stale, or without a good header
};

// For shard `index` in `folder`: the usual name, or one beside it if another shard or a newer
// generation has that. Fails with io: what cannot be looked at is not overwritten.
Result<NewName> name_for_shard(FileSystem& files, const ShardHeader& header, ShardIndex index,
                               const std::string& folder);

// A hidden name beside `path` that no file of the set has: one may be left over from a repair that
// was killed, complete and of use. `number` tells files of one repair apart.
std::string temporary_name(const std::string& path, const FoundSet& set, ShardIndex index,
                           std::size_t number);

// Removes from `folder` what killed repairs of this set left there, when all its shards are whole
// under other names: files without a header, and copies. What cannot be removed stays.
void remove_leftovers(FileSystem& files, const ShardHeader& header, const std::string& folder);

// Where missing shards go: to the targets, or without any to the folders of the set, each time to
// the one that has the fewest shards of this set. A disk that holds many takes many with it.
class TakingFolders {
 public:
  TakingFolders(const FoundSet& set, const std::vector<std::string>& targets);
  std::string take();  // which then has one more

 private:
  struct Folder {
    std::string path;
    std::size_t shards = 0;
  };
  std::vector<Folder> folders_;
};

}  // namespace calpe::store
