// SPDX-License-Identifier: Apache-2.0
// What may still be lost of a set before data is lost: shards, directories, devices.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "store/find/set_discovery.hpp"
#include "store/io/whereabouts.hpp"
#include "store/read/loss_count.hpp"

namespace calpe::store {

// Any n directories are lost with all that is in them and below them; any n devices with all files
// on them, as st_dev tells devices apart.
struct Losses {
  std::size_t devices = 0;
  std::size_t directories = 0;
  bool operator==(const Losses&) const = default;
  // More of one kind and no fewer of the other.
  bool is_better_than(const Losses& other) const noexcept {
    return devices >= other.devices && directories >= other.directories && *this != other;
  }
};

// A shard that should go elsewhere.
struct ShardMove {
  std::string from;
  std::string to;  // the new path
};

struct LossMargin {
  std::size_t shards = 0;  // any n shards, each with all its copies, may be lost
  Losses losses;
  std::size_t shard_count = 0;
  std::size_t directory_count = 0;  // that hold files of the set
  std::size_t device_count = 0;
  bool is_by_headers = false;  // no block was read: damage is not known
  bool needs_repair = false;   // some shard is missing or damaged, or a change is not ended
  // With all shards there and spread over the directories that were named, where that is better
  // than `losses`; else the same.
  Losses possible;
  // Lead there from here, if that takes only moves; empty also when the spread is good.
  std::vector<ShardMove> moves = {};

  bool is_spread_badly() const noexcept { return possible.is_better_than(losses); }
};

// Of the copies that verify looked at. `named`: folders that shards may be moved to. Nothing: data
// is lost already. Fails with io.
Result<std::optional<LossMargin>> margin_of(FileSystem& files, const FoundSet& set,
                                            const PlacedCopies& copies,
                                            const std::vector<std::string>& named);

// By headers alone: a file of the right size counts as good. Nothing also for originals, whose data
// no header knows.
Result<std::optional<LossMargin>> margin_by_headers(FileSystem& files, const FoundSet& set,
                                                    const std::vector<std::string>& named);

// The folders that missing shards should go to, one for each: those that leave most losses
// possible, else those with the fewest shards of the set. Chosen from the targets; without any,
// from `named` and the folders of the set's shards.
struct FolderChoice {
  const std::vector<std::string>& targets;
  const std::vector<std::string>& named;
  Locate locate = whereabouts;
};
Result<std::vector<std::string>> choose_folders(const FoundSet& set, const StripeCoder& coder,
                                                const FolderChoice& choice,
                                                const std::vector<ShardIndex>& missing);

}  // namespace calpe::store
