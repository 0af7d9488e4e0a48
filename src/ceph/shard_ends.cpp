// SPDX-License-Identifier: Apache-2.0
#include "ceph/shard_ends.hpp"

#include <algorithm>
#include <map>

#include "base/allocation_guard.hpp"
#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::ceph {

namespace {

// True if some object of an optimised pool has shards of these lengths: parity shards are the
// longest, and data shards become shorter only towards the end, by at most a chunk.
bool fits_an_object(const ObjectLayout& layout, const CephShards& shards) {
  std::uint64_t longest = 0;
  for (const auto& shard : shards)
    longest = std::max<std::uint64_t>(longest, shard ? shard->size() : 0);
  std::uint64_t most = longest;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (!shards[s]) continue;
    const std::uint64_t bytes = shards[s]->size();
    const bool is_longest = s == 0 || s >= layout.data_shards;
    if (is_longest ? bytes != longest : bytes > most || longest - bytes > layout.chunk_bytes)
      return false;
    if (!is_longest) most = bytes;
  }
  return true;
}

// True if shards show that this object has padding: some that an optimised pool would store
// shorter are padded, and none is shorter.
bool is_padded(const ObjectLayout& layout, const CephShards& shards, std::uint64_t padded) {
  if (!layout.object_bytes) return false;
  bool has_padding = false;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const std::uint64_t shorter =
        trimmed_bytes(layout, *layout.object_bytes, static_cast<ShardIndex>(s));
    if (!shards[s] || shorter == padded) continue;
    if (shards[s]->size() == shorter) return false;
    has_padding = has_padding || shards[s]->size() == padded;
  }
  return has_padding;
}

Result<ShardEnds> extend(const ObjectLayout& layout, CephShards& shards) {
  ShardEnds ends{.bytes = std::vector<std::uint64_t>(shards.size()),
                 .is_exact = layout.object_bytes.has_value()};
  std::uint64_t padded = 0;
  for (const auto& shard : shards)
    padded = std::max<std::uint64_t>(padded, shard ? shard->size() : 0);
  padded = round_up(padded, layout.chunk_bytes);
  if (layout.object_bytes) {
    const std::uint64_t width = layout.chunk_bytes * layout.data_shards;
    padded = round_up(*layout.object_bytes, width) / layout.data_shards;
  }
  const bool has_padding = is_padded(layout, shards, padded);
  std::size_t fitting = 0;
  std::size_t other = 0;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (!shards[s]) continue;
    ends.bytes[s] = shards[s]->size();
    const std::uint64_t wanted = layout.object_bytes ? trimmed_bytes(layout, *layout.object_bytes,
                                                                     static_cast<ShardIndex>(s))
                                                     : ends.bytes[s];
    const bool is_fitting = ends.bytes[s] == wanted || ends.bytes[s] == padded;
    (is_fitting ? fitting : other) += 1;
    if (!is_fitting) ends.bytes[s] = has_padding ? padded : wanted;
    if (is_fitting) shards[s]->resize(static_cast<std::size_t>(padded));
  }
  // Otherwise check_object() would take the length of the others for the right one.
  if (other != 0 && other >= fitting) {
    return make_error(ErrorCode::corrupt, other, " of ", fitting + other,
                      " shards have a length that does not fit an object of ", *layout.object_bytes,
                      " bytes; check the size and the stripe unit");
  }
  return ends;
}

bool agree_with_zeros(const Codec& codec, const ObjectLayout& layout, CephShards shards) {
  if (!extend(layout, shards)) return false;
  const Result<ObjectCheck> check = check_object(codec, layout.chunk_bytes, shards);
  return check && check->is_checked && check->is_consistent();
}

}  // namespace

std::uint64_t trimmed_bytes(const ObjectLayout& layout, std::uint64_t object_bytes,
                            ShardIndex shard) {
  const std::uint64_t width = layout.chunk_bytes * layout.data_shards;
  const std::uint64_t before = shard < layout.data_shards ? shard * layout.chunk_bytes : 0;
  const std::uint64_t rest = object_bytes % width;
  const std::uint64_t last =
      rest > before ? std::min<std::uint64_t>(rest - before, layout.chunk_bytes) : 0;
  return round_up(object_bytes / width * layout.chunk_bytes + last, block_bytes);
}

Result<bool> is_trimmed(const Codec& codec, const ObjectLayout& layout, const CephShards& shards) {
  if (layout.object_bytes) return true;
  return guarded([&]() -> Result<bool> {
    std::map<std::uint64_t, std::size_t> counts;
    for (const auto& shard : shards) {
      if (shard) ++counts[shard->size()];
    }
    if (counts.size() < 2) return false;
    if (agree_with_zeros(codec, layout, shards) || fits_an_object(layout, shards)) return true;
    // At most k - 1 shards of an optimised pool are shorter than the others. With a wrong one, k
    // have the same short length.
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    if (most->second > layout.data_shards) return false;
    return make_error(ErrorCode::ambiguous,
                      "the shards have different lengths, and the right ones are unknown; give "
                      "the object's size with --size");
  });
}

Result<ShardEnds> extend_shards(const ObjectLayout& layout, CephShards& shards) {
  return guarded([&] { return extend(layout, shards); });
}

Result<std::vector<std::byte>> trimmed(const ShardEnds& ends, ShardIndex shard,
                                       std::vector<std::byte> bytes) {
  if (ends.bytes.empty()) return bytes;
  const auto last = std::find_if(bytes.rbegin(), bytes.rend(),
                                 [](std::byte byte) { return byte != std::byte{0}; });
  const auto used = static_cast<std::uint64_t>(bytes.rend() - last);
  std::uint64_t kept = ends.bytes[shard];
  if (used > kept && ends.is_exact) {
    return make_error(ErrorCode::ambiguous, "shard ", shard, " would have data after its end, ",
                      "byte ", kept, "; too many shards are wrong to tell which ones");
  }
  if (used > kept) kept = std::min<std::uint64_t>(round_up(used, block_bytes), bytes.size());
  bytes.resize(static_cast<std::size_t>(kept));
  return bytes;
}

}  // namespace calpe::ceph
