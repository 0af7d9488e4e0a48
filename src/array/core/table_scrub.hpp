// SPDX-License-Identifier: Apache-2.0
// Scrubs metadata: pages of checksums, the index and superblocks. They are kept in memory, so
// damage on a member would only be found at the next opening, when other members may be lost. A
// checkpoint rewrites wrong pages into the other copy.
//
// Pages of many slots are read together, so that disks seldom have to leave the slots.
//
// Locks: none. A step takes Log::Locked, but not while members read pages of checksums.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <calpe/result.hpp>

#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"

namespace calpe::array {

class TableScrub {
 public:
  TableScrub(SharedState& shared, Log& log);

  // The scrub continues at this slot.
  void restart(std::uint64_t slot);
  // A stripe in this slot was scrubbed.
  void add(std::uint64_t slot);
  // The slots below `end` were scrubbed. Checks their metadata, and the superblocks after the last
  // slot, if there is enough of it. Adds the results to `progress`. Fails if repairs cannot be made
  // durable.
  Status step(std::uint64_t end, ScrubProgress& progress);

 private:
  void scrub_pages(CountByRole& wrong);
  void scrub_run(std::span<const std::uint64_t> pages, CountByRole& wrong);
  void scrub_index(unsigned copy, std::uint64_t first, std::uint64_t end, CountByRole& wrong);
  void scrub_superblocks(std::uint64_t epoch, CountByRole& wrong);

  const MemberLayout& layout_;
  Roster& roster_;
  Index& index_;
  ChecksumTable& table_;
  Log& log_;
  std::vector<std::uint64_t> pages_;  // with checksums of scrubbed slots, not checked yet
  std::uint64_t first_ = 0;           // slot; the index is not checked from there on
};

}  // namespace calpe::array
