// SPDX-License-Identifier: Apache-2.0
// Finds the protected files that changed, as users think in files, not in blocks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/format/manifest.hpp"

namespace calpe::store {

class OpenSet;
class StripeCoder;
struct Survey;

enum class OriginalDamage : std::uint8_t {
  missing,
  damaged,  // other bytes with the time of the manifest: not written on purpose
  changed,  // other bytes and another time, or something else has its name: written on purpose
};

struct OriginalState {
  std::size_t entry = 0;  // index in the manifest
  std::string path;       // on disk
  OriginalDamage damage = OriginalDamage::damaged;
  std::string problem;  // for users: "missing", "it has 3 bytes; expected 5"
};

// Returns all files that are not good. Checks the name, size and holes of every file, but compares
// bytes only in stripes where the survey found bad data. A bad block of a lost stripe is attributed
// to the changed files in it, or else to all files in it. Fails with io.
Result<std::vector<OriginalState>> check_originals(const OpenSet& files, const StripeCoder& coder,
                                                   const Survey& survey);

}  // namespace calpe::store
