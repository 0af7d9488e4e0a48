// SPDX-License-Identifier: Apache-2.0
// Offsets on a member, as in docs/array-format.md.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "array/format/types.hpp"

namespace calpe::array {

inline constexpr std::uint32_t no_slot = 0xFFFFFFFF;
inline constexpr std::uint64_t page_checksums = block_bytes / 8;  // entries of a table page
inline constexpr std::uint64_t log_at = 2 * block_bytes;          // after the superblocks

// The size of an array before it grew.
struct GrownFrom {
  std::uint32_t stripes = 0;  // 0 = it did not grow so often
  std::uint32_t spare_slots = 0;
  bool operator==(const GrownFrom&) const = default;
};
inline constexpr unsigned growths_max = 7;  // the superblock has no room for more

// Slots that were added together, and their table. The first segment has the slots and pages from
// creation, every growth adds one behind it.
struct Segment {
  std::uint64_t first_slot = 0;
  std::uint64_t first_page = 0;  // of the table
  std::uint64_t table_at = 0;
  std::uint64_t slots_at = 0;  // a multiple of chunk_bytes
};

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
  std::uint64_t index_at = 0;     // first copy; in the last segment
  std::uint64_t index_pages = 0;  // of one copy
  std::uint64_t table_at = 0;     // of the first segment
  std::uint64_t table_pages = 0;
  std::uint64_t slots_at = 0;  // of the first segment
  std::uint64_t member_bytes = 0;
  unsigned growths = 0;
  std::array<Segment, growths_max + 1> segments = {};  // growths + 1 are used

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
    unsigned segment = growths;
    while (slot < segments[segment].first_slot)
      --segment;
    const Segment& in = segments[segment];
    return in.slots_at + (slot - in.first_slot) * chunk_bytes + std::uint64_t{column} * block_bytes;
  }
  // True if the chunks of the slots [first, last] follow each other on a member.
  bool is_run(std::uint64_t first, std::uint64_t last) const noexcept {
    return block_at(static_cast<std::uint32_t>(last), 0) -
               block_at(static_cast<std::uint32_t>(first), 0) ==
           (last - first) * chunk_bytes;
  }
  std::uint64_t table_index(std::uint32_t slot, std::uint32_t column) const noexcept {
    return std::uint64_t{slot} * columns + column;
  }
  // Each page of the table has two copies; the lowest bit of its digest names the valid one.
  std::uint64_t page_at(std::uint64_t page, std::uint64_t place) const noexcept {
    const Segment& in = segments[segment_of_page(page)];
    return in.table_at + (2 * (page - in.first_page) + place) * block_bytes;
  }
  // The first page that does not follow `page` on a member without a gap.
  std::uint64_t run_end(std::uint64_t page) const noexcept {
    const unsigned segment = segment_of_page(page);
    return segment == growths ? table_pages : segments[segment + 1].first_page;
  }
  std::uint64_t copy_at(unsigned copy) const noexcept {
    return index_at + copy * index_pages * block_bytes;
  }

 private:
  unsigned segment_of_page(std::uint64_t page) const noexcept {
    unsigned segment = growths;
    while (page < segments[segment].first_page)
      --segment;
    return segment;
  }
};

struct Shape {
  unsigned rotated = 0;
  unsigned members_max = 0;
  std::array<GrownFrom, growths_max> grown_from = {};  // oldest first
  bool operator==(const Shape&) const = default;
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

// An array of more capacity, with one more segment.
struct Growth {
  Settings settings = {};
  Shape shape = {};
};
// The largest capacity up to `bytes_asked` (0 = no limit) on members of member_bytes. Fails with
// invalid_argument if that is not at least one stripe more, or less than what was asked for.
Result<Growth> grown(const Settings& settings, const Shape& shape, std::uint64_t member_bytes,
                     std::uint64_t bytes_asked);

}  // namespace calpe::array
