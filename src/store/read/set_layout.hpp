// SPDX-License-Identifier: Apache-2.0
// Knows the directory and device of each file of a set, and finds better places.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "store/io/whereabouts.hpp"
#include "store/read/loss_margin.hpp"

namespace calpe::store {

class SetLayout {
 public:
  // `folders`: directories that may receive further shards.
  SetLayout(const std::vector<PlacedCopy>& placed, const std::vector<std::string>& folders,
            const Locate& locate);

  // The copy is lost with this file, too.
  void add_needed(std::size_t copy, const std::string& path, const Locate& locate);

  std::size_t used_directories() const;
  std::size_t used_devices() const;

  // `copies` uses the same numbering as `placed`.
  Losses losses(const StripeCoder& coder, const SetCopies& copies) const;
  // Assumes that every placed file is good.
  Losses losses_when_whole(const StripeCoder& coder) const;

  // Adds the shards and returns a directory for each. Prefers empty directories, unless balancing
  // by device survives the loss of more devices and no fewer directories.
  std::vector<std::string> place(const StripeCoder& coder, const std::vector<ShardIndex>& shards);
  // Places all shards of the code in the candidates, as place() would.
  SetLayout spread_evenly(const StripeCoder& coder) const;
  // Returns moves that leave as few shards in each directory as `even` has. Returns none unless
  // every shard exists once and the moves survive the same losses as `even`.
  Result<std::vector<ShardMove>> moves_to(FileSystem& files, const FoundSet& set,
                                          const SetLayout& even, const StripeCoder& coder) const;

 private:
  struct Directory {
    std::string folder;  // as the caller named it
    std::string path;    // links resolved
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  // 0: not known
    bool is_candidate = false;
  };
  struct Copy {
    ShardIndex shard = 0;
    std::string path;                      // as found; empty: to be created
    std::vector<std::size_t> directories;  // two if the file is a link
    std::vector<std::uint64_t> devices;    // likewise
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
