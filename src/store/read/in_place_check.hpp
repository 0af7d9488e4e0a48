// SPDX-License-Identifier: Apache-2.0
// Finds the protected files that changed, as users think in files, not in blocks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "store/format/manifest.hpp"

namespace calpe::store {

class OpenSet;
class StripeCoder;
struct ShardHeader;
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

// What the user can do about a damaged file before an update.
enum class DamageCure : std::uint8_t {
  repair,
  partial_repair,  // other stripes cannot be repaired
  none,            // too much of its stripes has changed
};

// For an update that would take over damage: the bytes or the size of a file changed, but not its
// time. `shown`: the file as users see it.
Error original_damaged(const std::string& shown, bool is_same_size,
                       DamageCure cure = DamageCure::repair);
// The same for a file that seems to be `old_name`, renamed.
Error renamed_damaged(const std::string& shown, const std::string& old_name);
// What helps against the damage that a survey found in a file.
DamageCure cure_of(const ShardHeader& header, const Survey& survey, const Entry& entry);

// Returns all files that are not good. Checks the name, size and holes of every file, but compares
// bytes only in blocks that the survey found bad, and only until each file is known to be good or
// bad. In a bad block of a lost stripe the digests of files tell. Without digests, it is attributed
// to the changed files in it, or else to all files in it. Fails with io.
Result<std::vector<OriginalState>> check_originals(const OpenSet& files, const StripeCoder& coder,
                                                   const Survey& survey);

}  // namespace calpe::store
