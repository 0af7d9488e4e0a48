// SPDX-License-Identifier: Apache-2.0
// Looks at all places and tells who is there: which array, which member, how new.
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
  std::optional<Superblock> superblock = {};  // the newer of its two
  unsigned copy = 0;                          // which that is
  std::string why = {};                       // there is none
  bool is_short = false;                      // the file or disk is too small for what it claims
};

// One place. Never fails: `why` says what was found.
FoundPlace look_at(Members& members, unsigned place);

struct Survey {
  Superblock newest = {};
  std::vector<FoundPlace> places = {};
  std::vector<const FoundPlace*> by_role = {};  // nullptr: nobody
  std::uint64_t diverged = 0;                   // a bit for each role
  std::uint64_t cut = 0;                        // likewise: too short, so it lost bytes
  std::vector<const FoundPlace*> spares = {};
  std::vector<const FoundPlace*> others = {};  // replaced earlier, or nobody's

  Survey() = default;
  Survey(Survey&&) = default;  // the pointers stay valid
  Survey& operator=(Survey&&) = default;
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;
};

// Fails as inspect() does.
Result<Survey> survey(Members& members);

// Behind: listed as in, but its superblock is older than one that all live members had.
bool is_stale(const Superblock& superblock, const Superblock& newest) noexcept;

// Split brain: the member of that role was in use, and may have writes, without members that
// `newest` has in use. Honest members that were away are not: `newest` descends from their
// superblock.
bool has_diverged(const Superblock& superblock, const Superblock& newest, unsigned role) noexcept;

}  // namespace calpe::array
