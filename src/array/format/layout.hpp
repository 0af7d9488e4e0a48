// SPDX-License-Identifier: Apache-2.0
// Offsets on a member, as in docs/array-format.md.
#pragma once
#include <bit>
#include <cstdint>

#include "array/format/types.hpp"

namespace calpe::array {

inline constexpr std::uint32_t no_slot = 0xFFFFFFFF;
inline constexpr std::uint64_t page_checksums = block_bytes / 8;  // entries of a table page
inline constexpr std::uint64_t log_at = 2 * block_bytes;          // after the superblocks

struct MemberLayout {
  unsigned data = 0;
  unsigned parity = 0;
  unsigned rotated = 0;      // roles that shards rotate over; not parity that was added later
  unsigned members_max = 0;  // maximum number of roles
  std::uint32_t chunk_bytes = 0;
  std::uint32_t columns = 0;  // blocks per chunk
  std::uint64_t stripes = 0;
  std::uint64_t slots = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t header_most = 0;  // maximum bytes of a batch header
  std::uint64_t blocks_most = 0;  // maximum blocks of a batch for one member
  std::uint64_t missed_at = 0;    // in the index, after the map
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
  // Maps a bit set of roles to the bit set of their shards of a stripe.
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
  // Each page of the table has two copies; the lowest bit of its digest names the valid one.
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

// All settings must be set, except optional fields of spec. Does not overflow for settings that
// check_settings() accepts.
MemberLayout layout_of(const Settings& settings, const Shape& shape) noexcept;

// The smallest log that holds any single call.
std::uint64_t log_least(const Settings& settings, const Shape& shape) noexcept;

// Fails with invalid_argument.
Status check_settings(const Settings& settings);

// Fills in the defaults. The capacity is what members of member_bytes allow, unless it is set.
Result<Settings> settle(const Settings& settings, const Shape& shape, std::uint64_t member_bytes);

}  // namespace calpe::array
