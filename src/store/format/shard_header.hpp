// SPDX-License-Identifier: Apache-2.0
// The header of a shard file (docs/format.md), to bytes and back. Reading trusts nothing.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
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
// Blocks of data and parity of one stripe: readers and writers have that much in memory.
inline constexpr std::uint64_t stripe_bytes_max = std::uint64_t{1} << 26U;
inline constexpr std::uint64_t manifest_bytes_max = std::uint64_t{1} << 32U;
// Of all blocks of data together. So no size or offset in any shard file passes 2^63.
inline constexpr std::uint64_t capacity_max = std::uint64_t{1} << 62U;
inline constexpr std::size_t set_name_bytes_max = 255;

// The other node of each level, from the leaves up, for as many shards as there may be.
using RootPath = std::array<Digest, 8>;

enum class SetKind : std::uint8_t { shards = 0, originals = 1 };
enum class RootKind : std::uint8_t { none = 0, sha256 = 1, hmac = 2 };

struct ShardHeader {
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
// Fails with corrupt: magic, version, checksum, a field out of range, or fields that contradict
// each other; names the field, what it holds and what was expected. Does not look at the code:
// Codec::create() does, with the matrix hash.
Result<ShardHeader> parse_header(std::span<const std::byte> bytes);

// A name that a header may have: one part of a path, or nothing. Fails with corrupt.
Status check_set_name(std::string_view name);

// Levels of the tree over the shards' roots: so many entries of root_path are used.
std::size_t root_levels(const CodeSpec& spec) noexcept;

// The same set and generation, and the same in everything but shard index, its root and path.
bool is_same_set(const ShardHeader& a, const ShardHeader& b);

// By the clock, in quarters of a microsecond since 1970, so that of two updates that did not know
// of each other the later one is the newer; where the clock is behind, a random number from 1 to
// 2^32 more. `generation` is at most 2^64 - 2^32 - 1, or the result is not larger.
std::uint64_t next_generation(std::uint64_t generation);

}  // namespace calpe::store
