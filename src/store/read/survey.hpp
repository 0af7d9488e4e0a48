// SPDX-License-Identifier: Apache-2.0
// One pass over everything: what is damaged, and what of it is lost. Verify tells, repair goes by
// it.
#pragma once
#include <set>
#include <vector>

#include "base/progress.hpp"
#include "store/read/root_check.hpp"

namespace calpe::store {

// Where blocks that are good are also compared with each other.
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
  std::vector<CopyState> copies;  // as OpenSet::copies()
  StripeRanges bad;               // some block of some file is missing or damaged
  StripeRanges lost;              // cannot be rebuilt
  StripeRanges contradicting;
  StripeRanges bad_data;  // of which some block of data is
  // Kinds of stripes, by which of the copies have good blocks (loss_count.hpp).
  std::set<std::vector<std::uint8_t>> kinds = {};
};

// Also computes roots where the set has them. One file whose root is wrong says that somebody wrote
// it on purpose: it is distrusted, and the others are looked at again without it.
Result<Survey> survey_set(OpenSet& files, const StripeCoder& coder, Compared compared,
                          ThreadPool* helpers, const OnProgress& on_progress);

// Of content, when stripes [0, end) are done.
std::uint64_t content_before(const ShardHeader& header, std::uint64_t end) noexcept;

}  // namespace calpe::store
