// SPDX-License-Identifier: Apache-2.0
// The root of one shard on its way to a new generation: of blocks that are given, and of those that
// stay between them. The shard as it is must match its own root, or what somebody put into it would
// be in the new one.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "store/format/geometry.hpp"
#include "store/format/root_hash.hpp"
#include "store/io/file_system.hpp"

namespace calpe::store {

class NewRoot {
 public:
  // Headers are those of this shard, `before` with the root that it claims; `shard` is the file as
  // it is.
  NewRoot(const ShardHeader& before, const ShardHeader& after, File& shard);

  // A block that changes or is new, in ascending order of stripes.
  Status add(std::uint64_t stripe, std::span<const std::byte> block);
  // Fails with corrupt when the shard does not match its root, and with io.
  Result<Digest> finish();

 private:
  Status keep_before(std::uint64_t stripe);
  Result<std::span<const std::byte>> old_block(std::uint64_t stripe);

  const ShardHeader& before_;
  const ShardHeader& after_;
  File& shard_;
  Geometry geometry_;
  ShardHasher old_;
  ShardHasher new_;
  std::uint64_t next_stripe_ = 0;
  std::vector<std::byte> buffer_;  // some old blocks, one after the other
  std::uint64_t buffer_stripe_ = 0;
};

}  // namespace calpe::store
