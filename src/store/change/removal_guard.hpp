// SPDX-License-Identifier: Apache-2.0
// Refuses an update that would remove most of a set. The usual reason is a wrong source or a disk
// that is not mounted.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "store/format/manifest.hpp"
#include "store/tree/tree_difference.hpp"

namespace calpe::store {

// Default of UpdateOptions::removed_percent_max.
inline constexpr unsigned removed_percent_usual = 50;

// The part of a set that an update would remove, not counting the protected directory itself.
struct Removal {
  // Entries whose path is gone or has another type. Renamed entries count, because the files of a
  // subdirectory given by mistake look like renamed ones.
  std::vector<std::string> paths = {};
  std::uint64_t entries_before = 0;
  // Bytes of files that were deleted or truncated. A renamed file keeps its bytes.
  std::uint64_t bytes = 0;
  std::uint64_t bytes_before = 0;

  // Larger of the two shares, rounded up: the smallest percentage that permits the update.
  unsigned percent() const noexcept;
};

Removal removal_of(const Manifest& before, const Manifest& after, const TreeDifference& difference);

// Fails with invalid_argument if more than `percent_max` would be removed. The message has the
// numbers, the first paths, and the option that permits it.
Status check_removal(const Removal& removal, const std::string& source, unsigned percent_max);

}  // namespace calpe::store
