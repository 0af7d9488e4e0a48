// SPDX-License-Identifier: Apache-2.0
// Finds the newest bytes of a block: in a batch in memory, implied zeros, or on its member.
//
// Locks: none. The caller holds the lock of the stripe.
#pragma once
#include <cstddef>
#include <cstdint>

#include "array/core/shared_state.hpp"

namespace calpe::array {

class BlockSource {
 public:
  explicit BlockSource(SharedState& shared);

  // Copies the block to `to` if it is in memory. Otherwise it is on the member, with this checksum
  // (unknown_check if the checksum is lost).
  Overlay::Block find(const StripeAt& at, std::uint32_t column, unsigned role, std::byte* to);

 private:
  const MemberLayout& layout_;
  const BlockCheck& check_;
  ChecksumTable& table_;
  Overlay& overlay_;
};

}  // namespace calpe::array
