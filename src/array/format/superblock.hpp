// SPDX-License-Identifier: Apache-2.0
// The superblock of a member (docs/array-format.md), to bytes and back. Reading trusts nothing.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "array/format/layout.hpp"
#include "array/format/lease.hpp"

namespace calpe::array {

// What all members know of one.
struct RoleRecord {
  Uuid uuid = {};
  MemberState state = MemberState::in;
  bool by_missed = false;   // rebuilding: only stripes that the bitmap of missed ones has
  bool needs_full = false;  // out: the bitmap does not have all that it missed
  std::uint64_t watermark = 0;
  std::uint64_t out_epoch = 0;  // that said so first
  bool operator==(const RoleRecord&) const = default;
};

// An earlier opening of the array, and the last epoch of it that those who came after know.
struct PastSession {
  std::uint64_t session = 0;
  std::uint64_t last_epoch = 0;
  bool operator==(const PastSession&) const = default;
};
inline constexpr std::size_t past_sessions_max = 12;

struct Superblock {
  Uuid array = {};
  std::uint64_t epoch = 0;     // counts superblocks
  std::uint64_t previous = 0;  // the epoch that all live members had durably before this one
  std::uint64_t generation = 0;
  Uuid member = {};
  unsigned role = no_role;  // whose copy this is
  bool is_clean = false;
  unsigned index_copy = 0;
  std::uint64_t index_root = 0;
  Settings settings = {};
  Shape shape = {};
  std::vector<RoleRecord> roles = {};
  std::uint64_t session = 0;           // of the opening that wrote it; 0: an older version
  std::vector<PastSession> past = {};  // the newest first
  Lease lease = {};
  bool operator==(const Superblock&) const;
};

using SuperblockBytes = std::array<std::byte, block_bytes>;
SuperblockBytes to_bytes(const Superblock& superblock);
// Fails with corrupt: magic, version, checksum, or a field out of range, in words.
Result<Superblock> parse_superblock(std::span<const std::byte> bytes);

// The name of the member that gets a role, or becomes a spare, with that epoch at that place.
Uuid member_uuid(const Uuid& array, std::uint64_t epoch, unsigned place);

}  // namespace calpe::array
