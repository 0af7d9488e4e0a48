// SPDX-License-Identifier: Apache-2.0
// The object that describes one generation of a set: its code, its segments and where the shards
// were written (docs/remote-format.md). The parser accepts untrusted input.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/format/shard_header.hpp"

namespace calpe::remote {

inline constexpr std::uint64_t generation_object_bytes_max = std::uint64_t{1} << 27U;
inline constexpr std::uint64_t segments_max = std::uint64_t{1} << 21U;

// Data and manifest are two streams, each cut into segments of segment_bytes.
struct Generation {
  // Set, generation, name, code, block size. manifest_offset: bytes of the data.
  store::ShardHeader header = {};
  std::uint64_t parent = 0;  // generation that it was made from; 0: none
  std::uint64_t segment_bytes = 0;
  // Number of places, whichever they are, that the set is made to lose; nullopt: an old calpe.
  std::optional<std::uint16_t> places_may_fail = {};
  std::vector<Digest> data = {};  // digests of the segments
  std::vector<Digest> manifest = {};
  std::vector<std::string> labels = {};  // by shard: the place it was written to

  std::uint64_t data_bytes() const noexcept { return header.manifest_offset; }
  std::size_t shard_count() const noexcept {
    return std::size_t{header.spec.data_shards} + header.spec.parity_shards;
  }
};

// Sets the sizes of the header from the streams. Requires block_bytes and spec.
void set_sizes(store::ShardHeader& header, std::uint64_t data_bytes, std::uint64_t manifest_bytes);

Result<std::vector<std::byte>> to_bytes(const Generation& generation);
// Fails with corrupt.
Result<Generation> parse_generation(std::span<const std::byte> bytes);

// A segment and its number of content bytes.
struct Segment {
  Digest digest = {};
  std::uint64_t bytes = 0;
};
// Segments of a stream of `bytes` bytes.
std::vector<Segment> segments_of(std::span<const Digest> digests, std::uint64_t bytes,
                                 std::uint64_t segment_bytes);
std::vector<Segment> all_segments(const Generation& generation);

// Chooses the size of segments: about 1/256 of the data, from 1 to 32 MiB, whole stripes, and so
// that all shards of a segment fit in 64 MiB of memory.
std::uint64_t choose_segment_bytes(const store::ShardHeader& header, std::uint64_t data_bytes);

}  // namespace calpe::remote
