// SPDX-License-Identifier: Apache-2.0
// Lengths of shards. Ceph pads the last stripe of an object with zeros, so that all shards have the
// same length. In a pool with allow_ec_optimizations (Ceph 20) it stores only the blocks that hold
// data; absent bytes count as zeros. Objects from before the option was set have padded shards
// until these change.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ceph/object.hpp"

namespace calpe::ceph {

constexpr std::uint64_t block_bytes = 4096;  // shards in optimised pools are whole blocks

struct ObjectLayout {
  std::uint32_t data_shards = 0;
  std::uint64_t chunk_bytes = 0;
  std::optional<std::uint64_t> object_bytes = std::nullopt;
};

// Length of a shard in an optimised pool. Parity shards are as long as shard 0.
// Example: 4+2 with chunks of 4096 bytes, object of 20,000 bytes: 8192, 4096, 4096, 4096 and twice
// 8192.
std::uint64_t trimmed_bytes(const ObjectLayout& layout, std::uint64_t object_bytes,
                            ShardIndex shard);

// Decides from shards of an unknown pool whether absent bytes count as zeros: the shards agree
// then, or have the lengths of an optimised pool. Fails with ambiguous if check_object() could take
// the short shards of an optimised pool for the right ones.
Result<bool> is_trimmed(const Codec& codec, const ObjectLayout& layout, const CephShards& shards);

// Original lengths of shards that were extended.
struct ShardEnds {
  std::vector<std::uint64_t> bytes;  // empty: not extended
  bool is_exact = false;             // false: the object's size is unknown
};

// Extends shards with zeros to whole stripes, as check_object() needs them. Shards whose length
// does not fit the object's size are not extended, so that they count as wrong. Fails with corrupt
// if most shards are such.
Result<ShardEnds> extend_shards(const ObjectLayout& layout, CephShards& shards);

// Cuts a corrected shard to its length in the pool. Fails with ambiguous if this would remove other
// bytes than zeros: then another shard is wrong.
Result<std::vector<std::byte>> trimmed(const ShardEnds& ends, ShardIndex shard,
                                       std::vector<std::byte> bytes);

}  // namespace calpe::ceph
