// SPDX-License-Identifier: Apache-2.0
// Computes the root of one shard in a new generation, from new blocks and the unchanged ones
// between them. The old shard must match its own root, so that forged blocks do not get into the
// new one.
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
  // Takes the headers of this shard, `before` with the root that it claims, and the unchanged file.
  NewRoot(const ShardHeader& before, const ShardHeader& after, File& shard);

  // Adds a changed or new block, in ascending order of stripes.
  Status add(std::uint64_t stripe, std::span<const std::byte> block);
  // Fails with corrupt if the old shard does not match its root, and with io.
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
  std::vector<std::byte> buffer_;  // consecutive old blocks
  std::uint64_t buffer_stripe_ = 0;
};

}  // namespace calpe::store
