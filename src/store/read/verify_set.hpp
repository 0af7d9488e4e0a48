// SPDX-License-Identifier: Apache-2.0
// Looks at every block of a set.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/read/in_place_check.hpp"
#include "store/read/loss_count.hpp"
#include "store/read/root_check.hpp"
#include "store/read/set_reader.hpp"

namespace calpe::store {

struct ShardState {
  ShardIndex index = 0;
  std::string path;  // empty: missing
  bool headers_good = false;
  bool size_good = false;
  std::uint64_t bad_blocks = 0;
  RootState root = RootState::none;  // of the worst copy
  std::string problem;  // for people: "missing", "3 of 120 blocks are damaged"; empty: good
};

struct VerifyReport {
  ShardHeader header;
  std::vector<ShardState> shards;                // k + m; of originals only parity
  std::uint64_t bad_stripes = 0;                 // with at least one bad block
  std::vector<std::uint64_t> lost_stripes = {};  // fewer than k good; the first 1,000
  std::uint64_t lost_stripe_count = 0;
  std::vector<OriginalState> originals = {};  // of such a set: files that are not good
  bool is_list_lost = false;                  // of such a set: which files there were
  // Blocks that match their checksums but not each other: never, unless something wrote both.
  std::uint64_t contradicting_stripes = 0;

  PlacedCopies copies = {};  // all that was looked at, to count what may still be lost

  bool is_good() const noexcept;        // nothing to repair
  bool is_repairable() const noexcept;  // every stripe keeps enough good blocks, none contradict
};

// Reads everything once, and once more when some file does not match its root. `deep` also
// recomputes parity and compares.
Result<VerifyReport> verify_set(FileSystem& files, const FoundSet& set, bool deep = false,
                                unsigned jobs = 1, const OnProgress& on_progress = {});

}  // namespace calpe::store
