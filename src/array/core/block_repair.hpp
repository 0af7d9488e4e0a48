// SPDX-License-Identifier: Apache-2.0
// Rewrites blocks that were wrong on their member and have been decoded.
//
// Locks: none. The caller holds the lock of the stripe, and not Log::Locked once the log can be
// appended to, as a repair may commit.
#pragma once
#include <cstdint>

#include "array/core/log.hpp"
#include "array/core/shared_state.hpp"

namespace calpe::array {

class BlockRepair {
 public:
  BlockRepair(SharedState& shared, Log& log);

  // Writes the blocks marked needs_rewrite, and marks them is_rewritten. The next commit makes them
  // durable. Does nothing if the array is read-only.
  void rewrite(const StripeAt& at, StripeBuffer& buffer);

 private:
  bool put_checksum(const StripeAt& at, unsigned role, std::uint32_t column, std::uint64_t check);

  const MemberLayout& layout_;
  const OpenOptions& options_;
  const BlockCheck& check_;
  Roster& roster_;
  Overlay& overlay_;
  Log& log_;
};

}  // namespace calpe::array
