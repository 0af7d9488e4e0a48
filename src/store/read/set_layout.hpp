// SPDX-License-Identifier: Apache-2.0
// Which directory and device each file of a set is in, and where others would better be.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "store/io/whereabouts.hpp"
#include "store/read/loss_margin.hpp"

namespace calpe::store {

class SetLayout {
 public:
  // Further shards may go to the folders.
  SetLayout(const std::vector<PlacedCopy>& placed, const std::vector<std::string>& folders,
            const Locate& locate);

  std::size_t used_directories() const;
  std::size_t used_devices() const;

  // `copies` numbers them as `placed` did.
  Losses losses(const StripeCoder& coder, const SetCopies& copies) const;
  Losses losses_when_whole(const StripeCoder& coder) const;  // all that is placed is good

  // A folder for each shard, which is added. Empty directories come first, unless balancing by
  // devices survives more devices and no fewer directories.
  std::vector<std::string> place(const StripeCoder& coder, const std::vector<ShardIndex>& shards);
  // All shards of the code in the candidates, as place() would have put them.
  SetLayout spread_evenly(const StripeCoder& coder) const;
  // Moves that leave as few shards in each directory as `even` has; none unless all shards are
  // there once and the moves lead to what `even` survives.
  Result<std::vector<ShardMove>> moves_to(FileSystem& files, const FoundSet& set,
                                          const SetLayout& even, const StripeCoder& coder) const;

 private:
  struct Directory {
    std::string folder;  // as it was named
    std::string path;    // links resolved
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  // 0: not known
    bool is_candidate = false;
  };
  struct Copy {
    ShardIndex shard = 0;
    std::string path;                      // as it was found; empty: to be made
    std::vector<std::size_t> directories;  // two where the file is a link
    std::vector<std::uint64_t> devices;    // the same
  };
  std::size_t directory_of(const std::string& folder, const Locate& locate);
  std::size_t emptiest(bool is_by_device) const;
  void add(ShardIndex shard, std::size_t directory);
  std::size_t count_in(std::size_t directory) const;
  std::size_t count_on(std::uint64_t device) const;
  bool is_below(std::size_t directory, std::size_t above) const;

  std::vector<Directory> directories_;
  std::vector<Copy> copies_;
};

}  // namespace calpe::store
