// SPDX-License-Identifier: Apache-2.0
// Chooses a place for each shard, and computes how many places may be lost.
#pragma once
#include <compare>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "remote/set/remote_set.hpp"
#include "remote/set/segment_coder.hpp"

namespace calpe::remote {

// Distribution of the shards over places: shard -> place.
using Homes = std::vector<std::size_t>;
// The place that holds most objects of each shard; shards without one go to the place with the
// fewest.
Homes choose_homes(const Catalogue& catalogue, std::size_t shards, std::size_t places);
// Moves shards from full places to others until the numbers differ by at most one. Prefers shards
// that the new place already has in part.
Homes spread_evenly(Homes homes, const Catalogue& catalogue, std::size_t places);

// Counts the places that may be lost, whichever they are, before a segment is lost.
class PlaceMargin {
 public:
  // Borrows both.
  PlaceMargin(const SegmentCoder& coder, std::size_t places) : coder_(coder), places_(places) {}

  struct Object {
    ShardIndex shard = 0;
    std::size_t place = 0;
    auto operator<=>(const Object&) const = default;
  };
  // Adds a segment with these good objects.
  void add(std::vector<Object> good);
  // 0 if no place may be lost, and also if fewer than k objects of a segment are good. The result
  // is never too large.
  std::size_t may_fail() const;

 private:
  const SegmentCoder& coder_;
  std::size_t places_;
  std::set<std::vector<Object>> kinds_;  // of segments
};

std::size_t places_may_fail(const SegmentCoder& coder, const Homes& homes, std::size_t places);

// The number that the set is made for: from the generation, or from its labels if it is old.
std::size_t promised_losses(const SegmentCoder& coder, const Generation& generation);

}  // namespace calpe::remote
