// SPDX-License-Identifier: Apache-2.0
// Where things are on a member: offsets as docs/array-format.md has them.
#pragma once
#include <bit>
#include <cstdint>

#include "array/format/types.hpp"

namespace calpe::array {

inline constexpr std::uint32_t no_slot = 0xFFFFFFFF;
inline constexpr std::uint64_t page_checksums = block_bytes / 8;  // of a page of the table
inline constexpr std::uint64_t log_at = 2 * block_bytes;          // behind the superblocks

struct MemberLayout {
  unsigned data = 0;
  unsigned parity = 0;
  unsigned rotated = 0;      // roles that take turns; parity that was added later has its own place
  unsigned members_max = 0;  // roles that the index has room for
  std::uint32_t chunk_bytes = 0;
  std::uint32_t columns = 0;  // blocks of a chunk
  std::uint64_t stripes = 0;
  std::uint64_t slots = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t header_most = 0;  // bytes of the header of a batch
  std::uint64_t blocks_most = 0;  // that a batch may have for one member
  std::uint64_t missed_at = 0;    // in the index, behind the map
  std::uint64_t digests_at = 0;   // in the index
  std::uint64_t index_at = 0;     // first copy
  std::uint64_t index_pages = 0;  // of one copy
  std::uint64_t table_at = 0;
  std::uint64_t table_pages = 0;
  std::uint64_t slots_at = 0;
  std::uint64_t member_bytes = 0;

  unsigned roles() const noexcept { return data + parity; }
  std::uint64_t stripe_bytes() const noexcept { return std::uint64_t{chunk_bytes} * data; }
  unsigned shard_of(unsigned role, std::uint64_t stripe) const noexcept {
    return role < rotated ? static_cast<unsigned>((role + stripe) % rotated) : role;
  }
  unsigned role_of(unsigned shard, std::uint64_t stripe) const noexcept {
    if (shard >= rotated) return shard;
    return static_cast<unsigned>((shard + rotated - stripe % rotated) % rotated);
  }
  // The shards that these roles have of a stripe; a bit for each.
  std::uint64_t shards_of(std::uint64_t roles, std::uint64_t stripe) const noexcept {
    std::uint64_t shards = 0;
    for (; roles != 0; roles &= roles - 1) {
      const auto role = static_cast<unsigned>(std::countr_zero(roles));
      shards |= std::uint64_t{1} << shard_of(role, stripe);
    }
    return shards;
  }
  std::uint64_t block_at(std::uint32_t slot, std::uint32_t column) const noexcept {
    return slots_at + std::uint64_t{slot} * chunk_bytes + std::uint64_t{column} * block_bytes;
  }
  std::uint64_t table_index(std::uint32_t slot, std::uint32_t column) const noexcept {
    return std::uint64_t{slot} * columns + column;
  }
  // Each page of the table has two places, of which the digest's lowest bit names the valid one.
  std::uint64_t page_at(std::uint64_t page, std::uint64_t place) const noexcept {
    return table_at + (2 * page + place) * block_bytes;
  }
  std::uint64_t copy_at(unsigned copy) const noexcept {
    return index_at + copy * index_pages * block_bytes;
  }
};

struct Shape {
  unsigned rotated = 0;
  unsigned members_max = 0;
};

// No setting may be 0 but spec's optional fields. No overflow for settings that check_settings()
// accepts.
MemberLayout layout_of(const Settings& settings, const Shape& shape) noexcept;

// The smallest log that a call always fits into.
std::uint64_t log_least(const Settings& settings, const Shape& shape) noexcept;

// Fails with invalid_argument, in words.
Status check_settings(const Settings& settings);

// Settings with nothing left to defaults, as large as members of member_bytes allow, or as asked.
Result<Settings> settle(const Settings& settings, const Shape& shape, std::uint64_t member_bytes);

}  // namespace calpe::array
