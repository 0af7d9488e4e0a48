// SPDX-License-Identifier: Apache-2.0
// Where the newest bytes of a block are: in a batch in memory, nowhere because they are zeros, or
// on its member.
//
// Locks: none of its own. The caller has the stripe's lock.
#pragma once
#include <cstddef>
#include <cstdint>

#include "array/core/shared_state.hpp"

namespace calpe::array {

class BlockSource {
 public:
  explicit BlockSource(SharedState& shared);

  // Copies the block to `to` if memory has it. Otherwise the member has it, with this checksum;
  // unknown_check when the checksum is lost.
  Overlay::Block find(const StripeAt& at, std::uint32_t column, unsigned role, std::byte* to);

 private:
  const MemberLayout& layout_;
  const BlockCheck& check_;
  ChecksumTable& table_;
  Overlay& overlay_;
};

}  // namespace calpe::array
