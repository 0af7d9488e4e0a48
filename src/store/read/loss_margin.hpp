// SPDX-License-Identifier: Apache-2.0
// Computes what may still be lost of a set before data is lost: shards, directories, devices.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/find/set_discovery.hpp"
#include "store/io/whereabouts.hpp"
#include "store/read/loss_count.hpp"
#include "store/read/read_damage.hpp"

namespace calpe::store {

// Any n directories may be lost with everything in and below them, or any n devices (by st_dev)
// with all files on them.
struct Losses {
  std::size_t devices = 0;
  std::size_t directories = 0;
  bool operator==(const Losses&) const = default;
  // True if more of one kind and no fewer of the other may be lost.
  bool is_better_than(const Losses& other) const noexcept {
    return devices >= other.devices && directories >= other.directories && *this != other;
  }
};

// A shard that should be moved.
struct ShardMove {
  std::string from;
  std::string to;  // the new path
};

enum class MarginBasis : std::uint8_t {
  blocks,   // all were read or written
  headers,  // no block was read, so damage is not known
  part,     // headers, and damage in the part that was read
  record,   // headers, damage in the part, and earlier damage in other parts
};

struct LossMargin {
  std::size_t shards = 0;  // any n shards, each with all its copies, may be lost
  Losses losses;
  std::size_t shard_count = 0;
  std::size_t directory_count = 0;  // directories that hold files of the set
  std::size_t device_count = 0;
  MarginBasis basis = MarginBasis::blocks;
  bool needs_repair = false;  // a shard is missing or damaged, or a change is incomplete
  // The losses survived once all shards exist and are spread over the named directories, if that is
  // better than `losses`; otherwise the same as `losses`.
  Losses possible;
  // Moves that reach `possible`, if moves are enough. Also empty when the spread is already good.
  std::vector<ShardMove> moves = {};

  bool is_spread_badly() const noexcept { return possible.is_better_than(losses); }
};

// Uses the copies that verify checked. `named`: directories that shards may be moved to. Returns
// nullopt if data is already lost. Fails with io.
Result<std::optional<LossMargin>> margin_of(FileSystem& files, const FoundSet& set,
                                            const PlacedCopies& copies,
                                            const std::vector<std::string>& named);

// Uses headers: a file of the right size counts as good, except in `damage`. Also returns nullopt
// for kept originals, as no header describes their data.
Result<std::optional<LossMargin>> margin_by_headers(FileSystem& files, const FoundSet& set,
                                                    const std::vector<std::string>& named,
                                                    const ReadDamage& damage = {});

// Chooses a directory for each missing shard: the one that leaves the most losses possible, or else
// the one with the fewest shards of the set. Chooses from the targets. Without targets, chooses
// from `named` and the directories of the set's shards.
struct FolderChoice {
  const std::vector<std::string>& targets;
  const std::vector<std::string>& named;
  Locate locate = whereabouts;
};
Result<std::vector<std::string>> choose_folders(const FoundSet& set, const StripeCoder& coder,
                                                const FolderChoice& choice,
                                                const std::vector<ShardIndex>& missing);

}  // namespace calpe::store
