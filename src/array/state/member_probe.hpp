// SPDX-License-Identifier: Apache-2.0
// Reads the superblocks of all places: which array, which member, how new.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "array/format/members.hpp"
#include "array/format/superblock.hpp"

namespace calpe::array {

struct FoundPlace {
  unsigned place = 0;
  std::string name = {};                      // for messages
  std::optional<Superblock> superblock = {};  // the newer of its two copies
  unsigned copy = 0;                          // number of that copy
  std::string why = {};                       // why there is no superblock
  bool is_short = false;                      // smaller than its superblock requires
};

// Reads one place. Never fails: `why` has the reason.
FoundPlace look_at(Members& members, unsigned place);

struct Survey {
  Superblock newest = {};
  std::vector<FoundPlace> places = {};
  std::vector<const FoundPlace*> by_role = {};  // nullptr = missing
  std::uint64_t diverged = 0;                   // bit set of roles
  std::uint64_t cut = 0;                        // bit set of roles: too short, so bytes are lost
  std::vector<const FoundPlace*> spares = {};
  std::vector<const FoundPlace*> others = {};  // replaced earlier, or unused

  Survey() = default;
  Survey(Survey&&) = default;  // the pointers stay valid
  Survey& operator=(Survey&&) = default;
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;
};

// Fails as inspect() does.
Result<Survey> survey(Members& members);

// Stale: listed as in, but its superblock is older than one that all live members had.
bool is_stale(const Superblock& superblock, const Superblock& newest) noexcept;

// Split brain: the member was in use without members that are in use in `newest`, and may have its
// own writes. A member that was merely away has not diverged: `newest` descends from its
// superblock.
bool has_diverged(const Superblock& superblock, const Superblock& newest, unsigned role) noexcept;

}  // namespace calpe::array
