// SPDX-License-Identifier: Apache-2.0
// Computes the blocks of a stripe that are wanted and could not be read from k that could.
//
// Locks: none of its own; threads may decode different buffers at the same time.
#pragma once
#include <atomic>
#include <cstdint>

#include <calpe/codec.hpp>

#include "array/core/shared_state.hpp"

namespace calpe::array {

class StripeDecoder {
 public:
  explicit StripeDecoder(SharedState& shared);

  // Makes the blocks that buffer.needs asks for good, and marks those that were wrong as
  // needs_rewrite. Fails with corrupt when a column has too few good blocks; the other columns are
  // decoded all the same.
  Status decode(const StripeAt& at, StripeBuffer& buffer);
  // Blocks for which that failed, since the array was opened.
  std::uint64_t blocks_unreadable() const noexcept { return blocks_unreadable_; }

 private:
  std::uint64_t good_shards(const StripeBuffer& buffer, std::uint32_t column) const;
  Status decode_run(const StripeAt& at, StripeBuffer& buffer, std::uint32_t first,
                    std::uint32_t count);
  Status accept(const StripeAt& at, StripeBuffer& buffer, unsigned shard, std::uint32_t column);

  const MemberLayout& layout_;
  const BlockCheck& check_;
  const Codec& codec_;
  std::atomic<std::uint64_t> blocks_unreadable_ = 0;
};

}  // namespace calpe::array
