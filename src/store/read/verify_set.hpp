// SPDX-License-Identifier: Apache-2.0
// Checks every block of a set.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/read/in_place_check.hpp"
#include "store/read/loss_count.hpp"
#include "store/read/read_damage.hpp"
#include "store/read/root_check.hpp"
#include "store/read/scrub.hpp"
#include "store/read/set_reader.hpp"

namespace calpe::store {

struct ShardState {
  ShardIndex index = 0;
  std::string path;  // empty: missing
  bool headers_good = false;
  bool size_good = false;
  std::uint64_t bad_blocks = 0;
  RootState root = RootState::none;  // of the worst copy
  std::string problem;  // for users: "missing", "3 of 120 blocks are damaged"; empty: good
  // Why the system could not read some of it, which is no damage but often a failing disk; empty:
  // all could be read.
  std::string read_error = {};
  bool is_only_interrupted = false;  // its one problem is a redo journal, which repair applies
};

struct VerifyReport {
  ShardHeader header;
  std::vector<ShardState> shards;                // k + m; for kept originals only parity
  std::uint64_t bad_stripes = 0;                 // with at least one bad block
  std::vector<std::uint64_t> lost_stripes = {};  // fewer than k good; the first 1,000
  std::uint64_t lost_stripe_count = 0;
  std::vector<OriginalState> originals = {};  // for kept originals: files that are not good
  bool is_list_lost = false;                  // for kept originals: the list of files is lost
  bool is_original_absent = false;            // for kept originals: none of the files exists
  // Stripes whose blocks match their checksums but not each other, which means that both were
  // overwritten.
  std::uint64_t contradicting_stripes = 0;

  ReadDamage damage = {};    // in the stripes that were read
  PlacedCopies copies = {};  // everything checked, to count the losses still possible

  bool is_good() const noexcept;  // nothing to repair
  // No data is damaged or missing, but a change must be completed.
  bool is_only_interrupted() const noexcept;
  bool is_repairable() const noexcept;  // every stripe has enough good blocks, none contradict
};

// Reads everything once, and again when a file does not match its root. `deep` also recomputes
// parity and compares it.
Result<VerifyReport> verify_set(FileSystem& files, const FoundSet& set, bool deep = false,
                                unsigned jobs = 1, const OnProgress& on_progress = {},
                                const Scrub& scrub = {});

}  // namespace calpe::store
