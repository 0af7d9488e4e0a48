// SPDX-License-Identifier: Apache-2.0
// Refuses an update that would take most of a set out of it: the usual reason is a wrong source, or
// a disk that is not mounted.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "store/format/manifest.hpp"
#include "store/tree/tree_difference.hpp"

namespace calpe::store {

// Default of UpdateOptions::removed_percent_max.
inline constexpr unsigned removed_percent_usual = 50;

// The part of a set that an update would remove. The protected folder itself does not count.
struct Removal {
  // Entries whose path is gone, or is of another type. A renamed entry counts: by their paths, the
  // files of a subfolder that was named by mistake look like renamed ones.
  std::vector<std::string> paths = {};
  std::uint64_t entries_before = 0;
  // Bytes of files that are gone or became shorter. A renamed file keeps its bytes.
  std::uint64_t bytes = 0;
  std::uint64_t bytes_before = 0;

  // The larger of the two shares, rounded up: the smallest percentage that permits the update.
  unsigned percent() const noexcept;
};

Removal removal_of(const Manifest& before, const Manifest& after, const TreeDifference& difference);

// Fails with invalid_argument when the removal is more than `percent_max` permits. The message has
// the numbers, the first paths, and the option that permits it.
Status check_removal(const Removal& removal, const std::string& source, unsigned percent_max);

}  // namespace calpe::store
