// SPDX-License-Identifier: Apache-2.0
// Decodes the blocks of a stripe that could not be read from k that could.
//
// Locks: none. Threads may decode different buffers at the same time.
#pragma once
#include <atomic>
#include <cstdint>

#include <calpe/codec.hpp>

#include "array/core/shared_state.hpp"

namespace calpe::array {

class StripeDecoder {
 public:
  explicit StripeDecoder(SharedState& shared);

  // Decodes the blocks that buffer.needs requests, and marks those that were wrong as
  // needs_rewrite. Fails with corrupt if a column has too few good blocks; other columns are
  // decoded anyway.
  Status decode(const StripeAt& at, StripeBuffer& buffer);
  // Blocks that could not be decoded since the array was opened.
  std::uint64_t blocks_unreadable() const noexcept { return blocks_unreadable_; }

 private:
  std::uint64_t good_shards(const StripeBuffer& buffer, std::uint32_t column) const;
  Status decode_run(const StripeAt& at, StripeBuffer& buffer, std::uint32_t first,
                    std::uint32_t count);
  void note_lost(const StripeAt& at, const StripeBuffer& buffer, std::uint32_t column);
  void forget_found(const StripeAt& at, const StripeBuffer& buffer);
  std::uint64_t offset_of(const StripeAt& at, unsigned shard, std::uint32_t column) const;
  Status accept(const StripeAt& at, StripeBuffer& buffer, unsigned shard, std::uint32_t column);

  const MemberLayout& layout_;
  const BlockCheck& check_;
  const Codec& codec_;
  const Settings& settings_;
  const Roster& roster_;
  LostBlocks& lost_;
  std::atomic<std::uint64_t> blocks_unreadable_ = 0;
};

}  // namespace calpe::array
