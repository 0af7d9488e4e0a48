// SPDX-License-Identifier: Apache-2.0
// Counts how many groups of shard files, in any combination, may be lost before data is lost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/read/stripe_coder.hpp"

namespace calpe::store {

// Files of a set. A shard may have several copies.
struct SetCopies {
  std::vector<ShardIndex> shards;  // by copy
  // Every kind of stripe that occurs: by copy, 1 where its block is good.
  std::vector<std::vector<std::uint8_t>> stripes;
  // Index of the first shard whose file contains the manifest. Lower ones are the data of kept
  // originals.
  std::size_t first_listed = 0;
};

// A file of a set. For the data shards of kept originals: the original.
struct PlacedCopy {
  ShardIndex shard = 0;
  std::string path;
};

struct PlacedCopies {
  SetCopies copies;
  std::vector<PlacedCopy> places;  // by copy
};

// Copies that are lost together, for example those in one directory.
using CopyGroup = std::vector<std::size_t>;

// Returns the largest n such that every stripe can be decoded after the loss of any n groups, or
// nullopt if a stripe cannot be decoded now. Groups may overlap. The result is exact for MDS codes
// if no shard has copies and no copy is in two groups. Without stripes, one copy with the manifest
// must remain, and the result may be too small. Otherwise the codec tries all choices up to a bound
// on the work. Beyond it the result may be too small, never too large.
std::optional<std::size_t> losses_survived(const StripeCoder& coder, const SetCopies& copies,
                                           const std::vector<CopyGroup>& groups);

// Returns one group per shard, with all its copies.
std::vector<CopyGroup> groups_by_shard(const SetCopies& copies);

}  // namespace calpe::store
