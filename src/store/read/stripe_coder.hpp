// SPDX-License-Identifier: Apache-2.0
// Rebuilds blocks of one stripe from its good ones, and tells when good ones contradict each other.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <calpe/codec.hpp>

#include "store/format/shard_header.hpp"

namespace calpe::store {

enum class Rebuilt : std::uint8_t {
  done,
  lost,           // too few are good
  contradicting,  // good by their checksums, but not of one stripe: something wrote both
};

// One stripe: a block of each of its k + m shards. Those that are not good may be overwritten; one
// that is not good and not wanted may be empty.
struct StripeBlocks {
  std::span<const Shard> blocks;
  std::span<const std::uint8_t> good;
};

class StripeCoder {
 public:
  // Fails with corrupt when the header's code is not one, or its matrix another than when it was
  // written.
  static Result<StripeCoder> make(const ShardHeader& header);

  const Codec& codec() const noexcept { return codec_; }
  // Any k blocks are enough, which then need not be tried.
  bool is_any_k_enough() const noexcept { return is_any_k_enough_; }
  bool can_rebuild(std::span<const std::uint8_t> good) const;

  // Writes the blocks that are not good among `wanted` (ascending). Where more are good than it
  // takes, one of them is computed too and compared, so that a block whose checksum was forged or
  // collides does not spread. Several threads may call it.
  Result<Rebuilt> rebuild(const StripeBlocks& stripe, std::span<const ShardIndex> wanted) const;

  // Computes all good blocks that are not needed to compute the others, and compares: done, or
  // contradicting. A lost stripe has nothing to compare.
  Result<Rebuilt> compare(const StripeBlocks& stripe) const;

 private:
  StripeCoder(Codec codec, std::size_t block_bytes);
  Result<Rebuilt> run(const StripeBlocks& stripe, const Plan& plan) const;

  Codec codec_;
  std::size_t block_bytes_;
  bool is_any_k_enough_;
};

}  // namespace calpe::store
