// SPDX-License-Identifier: Apache-2.0
// Makes a generation count, and forgets old ones. docs/adr/0027 has the proof of the order.
#pragma once
#include <cstdint>
#include <vector>

#include "remote/set/remote_set.hpp"

namespace calpe::remote {

// Fails with corrupt and names the first object if a shard of a segment is on no place with its
// size.
Status check_stored(const Places& places, const Catalogue& catalogue, const Generation& generation);

// Lists all places again, checks that all objects are there and that no other command made a
// generation since `before` was listed, and writes the generation to every place.
Status commit(Places& places, const RemoteSet& before, const Generation& generation);

// Counts the copies of these generations that are missing or wrong on the places.
Result<std::uint64_t> count_missing_copies(Places& places, const RemoteSet& set,
                                           const std::vector<Generation>& generations);
// Writes those copies. Returns their number.
Result<std::uint64_t> write_missing_copies(Places& places, const RemoteSet& set,
                                           const std::vector<Generation>& generations);

struct Forgotten {
  std::uint64_t generations = 0;
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
};
// Keeps the newest `keep` generations (at least 1) and removes all objects that none of them needs.
// Requires all places.
Result<Forgotten> forget_older(Places& places, const Uuid& uuid, std::size_t keep);
// Removes a set that was begun and never completed.
Result<Forgotten> forget_begun(Places& places, const RemoteSet& set);

}  // namespace calpe::remote
