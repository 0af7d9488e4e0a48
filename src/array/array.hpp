// SPDX-License-Identifier: Apache-2.0
// A block device of k + m members that survives power loss, wrong bytes and up to m lost members.
// docs/adr/0018-array.md says why it is as it is, docs/array-format.md what is on a member.
//
//   create(members, {.spec = {.data_shards = 4, .parity_shards = 2}}, random_uuid());
//   auto array = Array::open(members, {});
//   (*array)->write(0, bytes, Durability::durable);
//
// A block is 4096 bytes; a crash leaves each block as it was or as it was to be. What was flushed
// is never lost. Every byte that is read was verified; where that cannot be done the call fails
// with corrupt, and wrong bytes are never returned.
// Threads: all members but close() may be called by any number of threads. There are none inside:
// rebuilding, scrubbing and checkpoints are steps that the caller makes, at the rate he wants.
// Determinism: the same calls in the same order give the same requests in the same order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "array/format/members.hpp"
#include "array/format/types.hpp"

namespace calpe::array {

struct Superblock;

// Formats places 0 .. k + m - 1 as members and further ones that have bytes as spares. Whatever
// was on them is lost. Fails with invalid_argument when a setting or a size does not fit (names the
// place), and with io.
Status create(Members& members, const Settings& settings, const Uuid& uuid);

// Fails as create() would, with places of these sizes; 0: nothing is there. Reads and writes
// nothing.
Status check_create(const Settings& settings, std::span<const std::uint64_t> bytes);

// What superblocks say; changes nothing. Fails with corrupt when no place has one, with
// invalid_argument when places are of two arrays, or a member is there twice.
Result<Inspection> inspect(Members& members);

// One more parity member on a new place: m becomes m + 1. The next server rebuilds that member. The
// array must not be open. Fails with invalid_argument when the profile's parity rows change with m,
// a member is missing or there is no room for more.
Status grow_parity(Members& members, unsigned place, const OpenOptions& options = {});

class Array {
 public:
  // Finds the members by their superblocks and recovers what a crash left. Everything that can be
  // read afterwards is durable. `members` must outlive the array. Fails with invalid_argument (of
  // two arrays, a member twice), corrupt (no superblock, an unknown version, too small),
  // unrecoverable (too few members; names those that are missing) and io.
  static Result<std::unique_ptr<Array>> open(Members& members, const OpenOptions& options = {});
  ~Array();  // like a crash: without close() what was not flushed may be lost
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  std::uint64_t bytes() const noexcept;
  const Settings& settings() const noexcept;

  // Any offset and length within bytes(); blocks that are only partly written are read before.
  Status read(std::uint64_t offset, std::span<std::byte> bytes);
  Status write(std::uint64_t offset, std::span<const std::byte> bytes, Durability durability);
  Status zero(std::uint64_t offset, std::uint64_t length, Durability durability);
  // Whole stripes become holes; the rest of the range keeps its bytes.
  Status trim(std::uint64_t offset, std::uint64_t length, Durability durability);
  // All that was written by calls that have returned is durable when this returns.
  Status flush();
  // Covers [offset, offset + length) without gaps; neighbours differ in is_data.
  Result<std::vector<Extent>> extents(std::uint64_t offset, std::uint64_t length);

  ArrayStatus status() const;

  // Reads the lease, and writes that it is still held. Fails when another server has taken it, and
  // so does every call from then on.
  Status renew_lease();
  // Every call fails with this reason from now on.
  void stop(const std::string& why);

  // Moves what the log holds to its places, and empties it. Calls do it when the log is full.
  Status checkpoint();
  // Checkpoint, and says in the superblock that nothing is to be recovered. Nothing may be called
  // afterwards.
  Status close();

  // --- members; all of these are durable when they return ---------------------------------------
  // The member at a role is not used any more. Fails with unrecoverable when another loss would
  // be too many.
  Status fail(unsigned role);
  // The same for one that has lost bytes: it can come back only by replace(), which rebuilds all.
  Status lose(unsigned role, const std::string& why);
  // Makes a place that has bytes a spare. Fails with invalid_argument when it is too small or is
  // one of this array already; anything else that is on it is lost.
  Status add(unsigned place);
  // Gives a role that is out to a spare or to another place, which is rebuilt from its start.
  Status replace(unsigned role, unsigned place);
  // How the member of a role can come back that is found with this superblock.
  Return returning(const Superblock& found, unsigned role) const;
  // The first role that is out gets the first spare. False: nobody is out, or there is no spare.
  Result<bool> take_spare();
  // A member that was out is back at its place or another: only what it missed is rebuilt. Fails
  // with invalid_argument when it is another member or missed more than is known.
  Status readd(unsigned role);

  // Rebuilds up to `bytes` of each member that is rebuilding (at least one stripe), and makes
  // the watermark durable. Other calls go on beside it.
  Result<RebuildProgress> rebuild_step(std::uint64_t bytes);
  // Reads and verifies all members of the stripes from `position` on, up to `bytes` of
  // capacity (at least one stripe), and rewrites wrong blocks. Repairs are durable when it returns;
  // fails when they cannot be made so.
  Result<ScrubProgress> scrub_step(std::uint64_t position, std::uint64_t bytes);

 private:
  struct Impl;
  explicit Array(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace calpe::array
