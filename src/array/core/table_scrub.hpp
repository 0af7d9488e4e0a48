// SPDX-License-Identifier: Apache-2.0
// Scrubs metadata: pages of checksums, the index and superblocks. They are kept in memory, so
// damage on a member would only be found at the next opening, when other members may be lost. A
// checkpoint rewrites wrong pages into the other copy.
//
// Locks: none. A step holds Log::Locked.
#pragma once
#include <cstdint>

#include <calpe/result.hpp>

#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"

namespace calpe::array {

class TableScrub {
 public:
  TableScrub(SharedState& shared, Log& log);

  // Checks the metadata of the stripes [first, end), and the superblocks with the last stripe. Adds
  // the results to `progress`. Fails if repairs cannot be made durable.
  Status step(std::uint64_t first, std::uint64_t end, ScrubProgress& progress);

 private:
  void scrub_pages(std::uint64_t first, std::uint64_t end, CountByRole& wrong);
  void scrub_index(unsigned copy, std::uint64_t first, std::uint64_t end, CountByRole& wrong);
  void scrub_superblocks(std::uint64_t epoch, CountByRole& wrong);

  const MemberLayout& layout_;
  Roster& roster_;
  Index& index_;
  ChecksumTable& table_;
  Log& log_;
};

}  // namespace calpe::array
