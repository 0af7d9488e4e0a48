// SPDX-License-Identifier: Apache-2.0
// Scans a whole set once to find damaged and lost stripes, for verify and repair.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "base/progress.hpp"
#include "store/read/read_damage.hpp"
#include "store/read/root_check.hpp"
#include "store/read/scrub.hpp"

namespace calpe::store {

// Which good blocks are also compared with each other.
enum class Compared : std::uint8_t {
  nowhere,
  damaged_stripes,
  everywhere,
};

struct CopyState {
  std::uint64_t bad_blocks = 0;
  bool is_padding_good = true;
  RootState root = RootState::none;
};

struct Survey {
  std::vector<CopyState> copies;  // by index in OpenSet::copies()
  StripeRanges bad;               // a block of some file is missing or damaged
  StripeRanges lost;              // cannot be rebuilt
  StripeRanges contradicting;
  StripeRanges bad_data;  // a data block is missing or damaged
  // By data shard of kept originals: the block is bad where the file list says.
  std::map<ShardIndex, StripeRanges> bad_originals = {};
  // Kinds of stripes, by which of the copies have good blocks (loss_count.hpp).
  std::set<std::vector<std::uint8_t>> kinds = {};
  ReadDamage damage = {};
};

// Also computes roots if the set has them. A file with a wrong root was tampered with: it is
// distrusted, and the survey is repeated without it. A part of a set proves no root.
Result<Survey> survey_set(OpenSet& files, const StripeCoder& coder, Compared compared,
                          ThreadPool* helpers, const OnProgress& on_progress,
                          const Scrub& scrub = {});

// Content bytes in stripes [0, end).
std::uint64_t content_before(const ShardHeader& header, std::uint64_t end) noexcept;

}  // namespace calpe::store
