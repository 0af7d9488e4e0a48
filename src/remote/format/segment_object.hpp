// SPDX-License-Identifier: Apache-2.0
// One shard of one segment: a header, a checksum for each block, and the blocks
// (docs/remote-format.md). A reader knows all fields of the header from the generation, so it
// compares and never parses.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "remote/format/generation_object.hpp"
#include "store/format/shard_header.hpp"

namespace calpe::remote {

inline constexpr std::size_t segment_header_bytes = 128;

// Sizes that follow from the set and the bytes of a segment.
struct SegmentShape {
  std::uint64_t block_bytes = 0;
  std::uint64_t data_shards = 0;
  std::uint64_t stripe_count = 0;

  SegmentShape(const store::ShardHeader& set, std::uint64_t segment_bytes) noexcept;
  std::uint64_t stripe_bytes() const noexcept { return block_bytes * data_shards; }
  std::uint64_t blocks_offset() const noexcept { return segment_header_bytes + 8 * stripe_count; }
  std::uint64_t object_bytes() const noexcept {
    return blocks_offset() + stripe_count * block_bytes;
  }
};

std::array<std::byte, segment_header_bytes> segment_header(const store::ShardHeader& set,
                                                           const Segment& segment,
                                                           ShardIndex shard);

// Checksum of a block in its object; covers set, segment, stripe and shard.
std::uint64_t segment_checksum(const Uuid& uuid, const Digest& segment, std::uint64_t stripe,
                               ShardIndex shard, std::span<const std::byte> block) noexcept;

// Fills header and checksums of an object whose blocks are in place.
void seal_object(const store::ShardHeader& set, const Segment& segment, ShardIndex shard,
                 std::span<std::byte> object);

}  // namespace calpe::remote
