// SPDX-License-Identifier: Apache-2.0
// Applies durable batches to the index, the table of checksums and the free slots in memory.
// Remembers the stripes that the log has changes of.
//
// Locks: none of its own. All calls need Log::Locked.
#pragma once
#include <cstdint>
#include <vector>

#include "array/core/shared_state.hpp"
#include "array/format/log_format.hpp"

namespace calpe::array {

class AppliedBatches {
 public:
  explicit AppliedBatches(SharedState& shared);

  // Only for durable batches, in order.
  void apply(const BatchHeader& header);
  // A member left, and the blocks in the log may not be in place on it: marks their stripes as
  // missed.
  void set_missed();
  // The log is empty: all blocks are in place.
  void clear();

 private:
  void touch(std::uint64_t stripe);
  void set_slot(const LogRecord& record);
  void set_zeros(const LogRecord& record);

  const MemberLayout& layout_;
  const BlockCheck& check_;
  Roster& roster_;
  Index& index_;
  ChecksumTable& table_;
  FreeSlots& free_slots_;
  std::vector<std::uint8_t> is_touched_;  // by stripe
  std::vector<std::uint64_t> touched_;    // those stripes
};

}  // namespace calpe::array
