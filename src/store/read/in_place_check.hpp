// SPDX-License-Identifier: Apache-2.0
// Which of the files that were protected are not what they were: people think in files, not in
// blocks.
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
  damaged,  // other bytes, but the time is that of the manifest: nobody wrote it
  changed,  // other bytes and another time, or something else has its name: somebody did
};

struct OriginalState {
  std::size_t entry = 0;  // of the manifest
  std::string path;       // on the disk
  OriginalDamage damage = OriginalDamage::damaged;
  std::string problem;  // for people: "missing", "it has 3 bytes, expected 5"
};

// All that are not good. Looks at names, sizes and holes of all, and compares bytes only in stripes
// in which the survey found bad data. A bad block of a stripe that is lost is blamed on the files
// in it that somebody has written, else on all that are in it. Fails with io.
Result<std::vector<OriginalState>> check_originals(const OpenSet& files, const StripeCoder& coder,
                                                   const Survey& survey);

}  // namespace calpe::store
