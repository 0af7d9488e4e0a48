// SPDX-License-Identifier: Apache-2.0
// How many groups of shard files may be lost, whichever they are, before data is lost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/read/stripe_coder.hpp"

namespace calpe::store {

// Files of a set; a shard may have several.
struct SetCopies {
  std::vector<ShardIndex> shards;  // by copy
  // Every kind of stripe that there is: by copy, 1 where its block is good.
  std::vector<std::vector<std::uint8_t>> stripes;
  // Shards below have no file with the list of files in it: the data of originals.
  std::size_t first_listed = 0;
};

// A file of a set. For the data shards of originals: the original.
struct PlacedCopy {
  ShardIndex shard = 0;
  std::string path;
};

struct PlacedCopies {
  SetCopies copies;
  std::vector<PlacedCopy> places;  // by copy
};

// Copies that are lost together, such as those in one directory.
using CopyGroup = std::vector<std::size_t>;

// The largest n such that every stripe can be decoded after the loss of any n groups; nothing when
// some stripe cannot be decoded now. Groups may overlap. Exact for MDS codes where no shard has
// copies and no copy is in two groups. Without stripes one copy that has the list of files must be
// left, and the answer may be too small. Else all choices are tried by the codec, up to a bound on
// the work; beyond it the answer may be too small, never too large.
std::optional<std::size_t> losses_survived(const StripeCoder& coder, const SetCopies& copies,
                                           const std::vector<CopyGroup>& groups);

// One group for each shard, with all its copies.
std::vector<CopyGroup> groups_by_shard(const SetCopies& copies);

}  // namespace calpe::store
