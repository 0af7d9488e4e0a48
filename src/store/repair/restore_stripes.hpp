// SPDX-License-Identifier: Apache-2.0
// Rebuilds lost and damaged originals stripe by stripe.
#pragma once
#include <set>
#include <vector>

#include "store/format/content_ranges.hpp"
#include "store/read/open_set.hpp"
#include "store/read/stripe_coder.hpp"
#include "store/read/survey.hpp"
#include "store/repair/in_place_output.hpp"

namespace calpe::store {

struct StripesRestored {
  std::vector<ContentRange> lost = {};  // of wanted files; ascending
  std::set<std::size_t> dropped = {};   // entries with lost bytes
};

// Writes the data of `entries` to `output`. Reads each stripe at most once, however many of its
// blocks are lost: only the blocks of these files where the survey found a stripe good, and all
// data blocks where it did not. Drops files with bytes that no good block and no intact file has.
// Fails with io, and with corrupt if blocks contradict each other.
Result<StripesRestored> restore_stripes(const OpenSet& files, const StripeCoder& coder,
                                        const Survey& survey,
                                        const std::vector<std::size_t>& entries, unsigned jobs,
                                        OriginalOutput& output);

}  // namespace calpe::store
