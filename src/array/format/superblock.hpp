// SPDX-License-Identifier: Apache-2.0
// Writes and parses the superblock of a member (docs/array-format.md). Parsing checks every field.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "array/format/layout.hpp"
#include "array/format/lease.hpp"

namespace calpe::array {

// Errors of the disk of a role, over all openings. Numbers that are too large for the superblock
// stop at its limit.
struct MemberErrors {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t blocks_wrong = 0;     // did not match their checksums
  std::uint64_t blocks_repaired = 0;  // durable repairs
  bool operator==(const MemberErrors&) const = default;
};

// The state of one member, as recorded on all of them.
struct RoleRecord {
  Uuid uuid = {};
  MemberState state = MemberState::in;
  bool by_missed = false;       // rebuilding: only stripes in the missed bitmap
  bool needs_full = false;      // out: the missed bitmap is incomplete
  bool on_request = false;      // out: taken out by an operator, who must put it back
  std::uint64_t watermark = 0;  // rebuilding: it has the stripes below
  // Rebuilding: it also has the stripes in the slots below. nullopt = written by an older version.
  std::optional<std::uint64_t> slots_done = {};
  std::uint64_t out_epoch = 0;  // epoch that first recorded it as out
  MemberErrors errors = {};
  bool operator==(const RoleRecord&) const = default;
};

// An earlier opening of the array, and its last epoch as known to later openings.
struct PastSession {
  std::uint64_t session = 0;
  std::uint64_t last_epoch = 0;
  bool operator==(const PastSession&) const = default;
};
inline constexpr std::size_t past_sessions_max = 12;

// A spare that receives a copy of a member that is in, and all its writes.
struct Successor {
  Uuid uuid = {};
  unsigned role = no_role;       // no_role = none
  std::uint64_t slots_done = 0;  // it has the chunks in the slots below
  bool operator==(const Successor&) const = default;
};

struct Superblock {
  Uuid array = {};
  std::uint64_t epoch = 0;     // number of the superblock
  std::uint64_t previous = 0;  // epoch that was durable on all live members before
  std::uint64_t generation = 0;
  Uuid member = {};
  unsigned role = no_role;  // role of the member with this copy
  bool is_clean = false;
  unsigned index_copy = 0;
  std::uint64_t index_root = 0;
  Settings settings = {};
  Shape shape = {};
  std::vector<RoleRecord> roles = {};
  std::uint64_t session = 0;           // id of the opening that wrote it; 0 = older version
  std::vector<PastSession> past = {};  // newest first
  Lease lease = {};
  Successor successor = {};
  ScrubHistory scrub = {};
  std::uint32_t unknown_features = 0;  // with which this version may only read the array
  bool operator==(const Superblock&) const;
};

using SuperblockBytes = std::array<std::byte, block_bytes>;
SuperblockBytes to_bytes(const Superblock& superblock);
// Fails with corrupt if the magic, version, checksum or a field is wrong.
Result<Superblock> parse_superblock(std::span<const std::byte> bytes);
// The epoch of an undamaged superblock that only a newer version can read.
std::optional<std::uint64_t> epoch_for_newer_version(std::span<const std::byte> bytes);

// The uuid of a new member or spare that is created with that epoch at that place.
Uuid member_uuid(const Uuid& array, std::uint64_t epoch, unsigned place);

}  // namespace calpe::array
