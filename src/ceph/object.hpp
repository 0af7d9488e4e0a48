// SPDX-License-Identifier: Apache-2.0
// Checks, corrects and restores an object of a Ceph pool from its shards. A shard is a sequence of
// chunks, one per stripe.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::ceph {

// All k+m shards by index; nullopt for a missing shard.
using CephShards = std::vector<std::optional<std::vector<std::byte>>>;

struct WrongShard {
  ShardIndex shard = 0;
  bool has_other_length = false;  // then every stripe counts as wrong
  std::vector<std::uint64_t> stripes;
};

struct ObjectCheck {
  std::uint64_t shard_bytes = 0;
  std::uint64_t stripe_count = 0;
  std::vector<ShardIndex> missing;
  std::vector<WrongShard> wrong;           // ascending; these can be corrected
  std::vector<std::uint64_t> unexplained;  // inconsistent stripes without a known wrong shard
  bool is_checked = false;                 // false: no redundancy is left to check with

  bool is_consistent() const noexcept { return wrong.empty() && unexplained.empty(); }
};

// Checks every stripe separately; different stripes may have different wrong shards. Exact while
// 2 * wrong + missing <= m in every stripe. Fails with unrecoverable if fewer than k shards are
// usable, with invalid_argument if shards.size() is not k+m, and with corrupt if the shards have no
// common length or it is not a multiple of chunk_bytes.
Result<ObjectCheck> check_object(const Codec& codec, std::uint64_t chunk_bytes,
                                 const CephShards& shards);

// Rebuilds the shards that `check` reports as wrong, then checks everything again. On success all
// present shards are consistent. Fails with ambiguous if a stripe is unexplained.
Status correct_object(const Codec& codec, std::uint64_t chunk_bytes, const ObjectCheck& check,
                      CephShards& shards);

// Returns the object's content from any sufficient set of consistent shards. Without object_bytes
// the content is padded with zeros to whole stripes.
Result<std::vector<std::byte>> object_content(const Codec& codec, std::uint64_t chunk_bytes,
                                              const CephShards& shards,
                                              std::optional<std::uint64_t> object_bytes);

}  // namespace calpe::ceph
