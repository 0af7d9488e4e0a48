// SPDX-License-Identifier: Apache-2.0
// Rebuilds blocks of a stripe from its good ones, and detects good blocks that contradict each
// other.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "store/format/shard_header.hpp"

namespace calpe::store {

enum class Rebuilt : std::uint8_t {
  done,
  lost,           // too few good blocks
  contradicting,  // checksums match, but the blocks are not of one stripe: both were overwritten
};

// One stripe: a block for each of its k + m shards. Blocks that are not good may be overwritten. A
// block that is neither good nor wanted may be empty.
struct StripeBlocks {
  std::span<const Shard> blocks;
  std::span<const std::uint8_t> good;
};

class StripeCoder {
 public:
  // Fails with corrupt when the header's code is invalid or its matrix is not the one it was
  // written with.
  static Result<StripeCoder> make(const ShardHeader& header);

  const Codec& codec() const noexcept { return codec_; }
  // True if any k blocks suffice, so no combination needs checking.
  bool is_any_k_enough() const noexcept { return is_any_k_enough_; }
  bool can_rebuild(std::span<const std::uint8_t> good) const;

  // Rebuilds the blocks of `wanted` (ascending) that are not good. If there are more good blocks
  // than needed, recomputes one of them and compares, so that a block with a forged or colliding
  // checksum does not spread. Thread-safe.
  Result<Rebuilt> rebuild(const StripeBlocks& stripe, std::span<const ShardIndex> wanted) const;

  // Recomputes all redundant good blocks and compares. Returns done or contradicting. A lost stripe
  // has nothing to compare.
  Result<Rebuilt> compare(const StripeBlocks& stripe) const;

 private:
  StripeCoder(Codec codec, std::size_t block_bytes);
  Result<Rebuilt> run(const StripeBlocks& stripe, const Plan& plan) const;

  Codec codec_;
  std::size_t block_bytes_;
  bool is_any_k_enough_;
};

}  // namespace calpe::store
