// SPDX-License-Identifier: Apache-2.0
// Makes a generation count, and forgets old ones. docs/adr/0027 has the proof of the order.
#pragma once
#include <cstdint>
#include <vector>

#include "remote/set/change_lock.hpp"

namespace calpe::remote {

// Fail with corrupt and name the first object if a shard of a segment is on no place with its size.
Status check_segment_stored(const Places& places, const Catalogue& catalogue,
                            const Generation& generation, const Segment& segment);
Status check_stored(const Places& places, const Catalogue& catalogue, const Generation& generation);

// Lists all places again, checks that all objects are there, that the lock still holds and that no
// other command made a generation since `before` was listed, and writes the generation to every
// place.
Status commit(Places& places, const ChangeLock& lock, const RemoteSet& before,
              const Generation& generation);

// Counts the copies of each of these generations that are missing or wrong on the places.
Result<std::vector<std::uint64_t>> count_missing_copies(Places& places, const RemoteSet& set,
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
Result<Forgotten> forget_older(Places& places, const ChangeLock& lock, std::size_t keep);
Result<Forgotten> forget_older(Places& places, const Uuid& uuid, std::size_t keep,
                               const ChangeOptions& change);
// Removes a set that was begun and never completed.
Result<Forgotten> forget_begun(Places& places, const RemoteSet& set, const ChangeOptions& change);

}  // namespace calpe::remote
