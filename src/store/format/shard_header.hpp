// SPDX-License-Identifier: Apache-2.0
// Serialises and parses shard headers (docs/format.md). The parser accepts untrusted input.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "base/uuid.hpp"

namespace calpe::store {

inline constexpr std::size_t header_bytes = 4096;
inline constexpr std::uint32_t block_bytes_min = 64;
inline constexpr std::uint32_t block_bytes_max = 1U << 24U;
// Maximum size of one stripe, data and parity. Readers and writers hold this much in memory.
inline constexpr std::uint64_t stripe_bytes_max = std::uint64_t{1} << 26U;
inline constexpr std::uint64_t manifest_bytes_max = std::uint64_t{1} << 32U;
// Maximum size of all data blocks together. Keeps every size and offset in a shard file below 2^63.
inline constexpr std::uint64_t capacity_max = std::uint64_t{1} << 62U;
inline constexpr std::size_t set_name_bytes_max = 255;
// Version 2 is for kept originals: with digests of files and a second copy of the manifest.
inline constexpr std::uint32_t header_version_usual = 1;
inline constexpr std::uint32_t header_version_digests = 2;

// Sibling node of each level, from the leaf up, with room for the maximum number of shards.
using RootPath = std::array<Digest, 8>;

enum class SetKind : std::uint8_t { shards = 0, originals = 1 };
enum class RootKind : std::uint8_t { none = 0, sha256 = 1, hmac = 2 };

struct ShardHeader {
  std::uint32_t version = header_version_usual;
  Uuid uuid = {};
  std::uint64_t generation = 1;
  ShardIndex shard_index = 0;
  SetKind kind = SetKind::shards;
  RootKind root_kind = RootKind::none;
  std::uint32_t block_bytes = 0;
  std::uint64_t stripe_count = 0;
  std::uint64_t content_bytes = 0;
  std::uint64_t manifest_offset = 0;
  std::uint64_t manifest_bytes = 0;
  CodeSpec spec;  // resolved; layout bytes
  Digest shard_root = {};
  Digest set_root = {};
  Digest hmac = {};
  RootPath root_path = {};
  std::string name;
  bool operator==(const ShardHeader&) const = default;
};

using HeaderBytes = std::array<std::byte, header_bytes>;
HeaderBytes to_bytes(const ShardHeader& header);
// Fails with corrupt for a wrong magic, version or checksum, a field out of range, or contradictory
// fields. The error names the field, its value and the expected value. Does not check the code:
// Codec::create() does, with the matrix hash.
Result<ShardHeader> parse_header(std::span<const std::byte> bytes);
// The version of a header that parse_header() is too old for.
std::optional<std::uint32_t> newer_version(std::span<const std::byte> bytes);

// The first shard that has a file: data shards of kept originals have none.
ShardIndex first_file_shard(const ShardHeader& header) noexcept;

// Checks a set name: empty, or a single path component. Fails with corrupt.
Status check_set_name(std::string_view name);

// Levels of the tree over the shards' roots, and so the number of used entries of root_path.
std::size_t root_levels(const CodeSpec& spec) noexcept;

// True if both belong to the same set and generation, and differ only in shard index, root and
// path.
bool is_same_set(const ShardHeader& a, const ShardHeader& b);

// Derives the generation from the clock, in quarters of a microsecond since 1970, so that the later
// of two independent updates is the newer one. If the clock is not ahead of `generation`, adds a
// random number from 1 to 2^32 instead. Requires generation <= 2^64 - 2^32 - 1; otherwise the
// result is not larger.
std::uint64_t next_generation(std::uint64_t generation);

}  // namespace calpe::store
