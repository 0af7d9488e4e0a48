// SPDX-License-Identifier: Apache-2.0
// An object of a Ceph pool as its shards: which of them contradict the others, what they should
// hold, and what the object is. Shards are stripes of one chunk each, one behind the other.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::ceph {

// By shard index, all k+m; none where a shard is not there.
using CephShards = std::vector<std::optional<std::vector<std::byte>>>;

struct WrongShard {
  ShardIndex shard = 0;
  bool has_other_length = false;  // than the others; then all of it is taken for wrong
  std::vector<std::uint64_t> stripes;
};

struct ObjectCheck {
  std::uint64_t shard_bytes = 0;
  std::uint64_t stripe_count = 0;
  std::vector<ShardIndex> missing;
  std::vector<WrongShard> wrong;           // ascending; these are named, and can be corrected
  std::vector<std::uint64_t> unexplained;  // stripes that are wrong, but nobody can be named
  bool is_checked = false;                 // false: no shard is left to compare with

  bool is_consistent() const noexcept { return wrong.empty() && unexplained.empty(); }
};

// Every stripe by itself: different stripes may have different wrong shards. Exact while
// 2 * wrong + missing <= m in every stripe. Fails with unrecoverable when fewer shards than the
// code needs are there, with invalid_argument when they are not as many as the code has, and with
// corrupt when they have no length in common or it is no multiple of chunk_bytes.
Result<ObjectCheck> check_object(const Codec& codec, std::uint64_t chunk_bytes,
                                 const CephShards& shards);

// Rewrites what `check` says is wrong, from the others, and checks everything again: with success
// all shards that are there agree. Fails with ambiguous when some stripe is unexplained.
Status correct_object(const Codec& codec, std::uint64_t chunk_bytes, const ObjectCheck& check,
                      CephShards& shards);

// What the object holds, from any shards that are enough; they must be consistent. Whole stripes,
// with the zeros behind the object's end, unless object_bytes says where that is.
Result<std::vector<std::byte>> object_content(const Codec& codec, std::uint64_t chunk_bytes,
                                              const CephShards& shards,
                                              std::optional<std::uint64_t> object_bytes);

}  // namespace calpe::ceph
