// SPDX-License-Identifier: Apache-2.0
// What batches that the log holds durably change in memory: the index, the table of checksums and
// the free slots. Remembers which stripes the log holds something of.
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

  // Only for a batch that is durable, in the order of batches.
  void apply(const BatchHeader& header);
  // A member left, and may not have in its place what the log holds: these stripes count as missed.
  void set_missed();
  // The log is empty: everything is in its place.
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
  std::vector<std::uint8_t> touched_;  // by stripe
};

}  // namespace calpe::array
