// SPDX-License-Identifier: Apache-2.0
// A block device of k + m members that survives power loss, wrong bytes and up to m lost members.
// Design: docs/adr/0018-array.md. Format of a member: docs/array-format.md.
//
//   create(members, {.spec = {.data_shards = 4, .parity_shards = 2}}, random_uuid());
//   auto array = Array::open(members, {});
//   (*array)->write(0, bytes, Durability::durable);
//
// A block is 4096 bytes; after a crash each block is either old or new. Flushed data is never lost.
// Every byte that is read was verified. If that is impossible the call fails with corrupt; wrong
// bytes are never returned.
// Threads: all functions but close() may be called by any number of threads. The array starts none:
// the caller runs rebuild, scrub and checkpoint steps at its own rate.
// Determinism: the same calls in the same order make the same requests in the same order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "array/format/members.hpp"
#include "array/format/types.hpp"

namespace calpe::array {

struct Superblock;

// Formats places 0 .. k + m - 1 as members, and later places that are not empty as spares. Erases
// them. Fails with invalid_argument if a setting or a size does not fit, and with io.
Status create(Members& members, const Settings& settings, const Uuid& uuid);

// Fails as create() would with places of these sizes (0 = empty place). Does no I/O.
Status check_create(const Settings& settings, std::span<const std::uint64_t> bytes);

// Reads the superblocks; changes nothing. Fails with corrupt if no place has one, and with
// invalid_argument if places belong to two arrays or a member occurs twice.
Result<Inspection> inspect(Members& members);

// Adds a parity member at a new place: m becomes m + 1. The next server rebuilds that member. The
// array must not be open. Fails with invalid_argument if the parity rows of the profile depend on
// m, a member is missing or there is no room for more.
Status grow_parity(Members& members, unsigned place, const OpenOptions& options = {});

// Fails as grow_parity() would with a new place of `bytes` bytes. Only reads superblocks.
Status check_grow_parity(Members& members, std::uint64_t bytes);

// The capacity that Array::grow(bytes) would give. Fails as it would. Only reads superblocks.
Result<std::uint64_t> check_grow(Members& members, std::uint64_t bytes);

class Array {
 public:
  // Finds the members by their superblocks and recovers from a crash. Everything that can be read
  // afterwards is durable. `members` must outlive the array. Fails with invalid_argument (two
  // arrays, a member twice), corrupt (no superblock, unknown version, too small), unrecoverable
  // (too few members; the message lists the missing ones) and io.
  static Result<std::unique_ptr<Array>> open(Members& members, const OpenOptions& options = {});
  ~Array();  // without close() like a crash: writes that were not flushed may be lost
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  std::uint64_t bytes() const noexcept;  // more after grow()
  Settings settings() const noexcept;

  // Any offset and length within bytes(). Partly written blocks are read first.
  Status read(std::uint64_t offset, std::span<std::byte> bytes);
  Status write(std::uint64_t offset, std::span<const std::byte> bytes, Durability durability);
  Status zero(std::uint64_t offset, std::uint64_t length, Durability durability);
  // Whole stripes become holes; the rest of the range keeps its bytes.
  Status trim(std::uint64_t offset, std::uint64_t length, Durability durability);
  // Makes all writes durable whose calls have returned.
  Status flush();
  // Covers [offset, offset + length) without gaps; neighbours differ in is_data.
  Result<std::vector<Extent>> extents(std::uint64_t offset, std::uint64_t length);

  ArrayStatus status() const;
  // The same without waiting for a commit, which may be waiting for a member. What only the commit
  // knows (epochs, log, spares, stripes) is taken from `last`.
  ArrayStatus status_now(const ArrayStatus& last) const;
  // Returns nullopt if a commit is running.
  std::optional<ArrayStatus> try_status() const;
  // True if the array works without the members at these places (bit set). Takes no lock.
  bool can_do_without(std::uint64_t places) const noexcept;

  // Checks and renews the lease. If another server has taken it, this and all later calls fail.
  Status renew_lease();
  // Makes all later calls fail with this reason.
  void stop(const std::string& why);

  // Makes the contents of the log durable in place and empties it. Also runs when the log is full,
  // but then all writes wait for it.
  Status checkpoint();
  // True if it is time for a checkpoint. Takes no lock.
  bool is_log_half_full() const noexcept;
  // Makes a checkpoint and marks the array clean. Nothing may be called afterwards.
  Status close();

  // --- members; all changes are durable on return -----------------------------------------------
  // Takes a member out until replace() or readd(), also if it was already out for another reason.
  // Fails with unrecoverable if data would be lost.
  Status fail(unsigned role);
  // The same for a member that has lost bytes: only replace(), a full rebuild, brings it back.
  Status lose(unsigned role, const std::string& why);
  // Makes a place a spare and erases it. Fails with invalid_argument if it is too small or already
  // in use by this array.
  Status add(unsigned place);
  // Takes a spare out of the array and erases its superblocks. Fails with invalid_argument if the
  // place is not a spare, and with io if it cannot be erased; it is no longer a spare then, either.
  Status remove_spare(unsigned place);
  // Replaces a member by a spare or another place. A member that is out is rebuilt in full. One
  // that is in serves until rebuild_step() has copied it; remove_spare() of the new place cancels
  // that.
  Status replace(unsigned role, unsigned place);
  // Tells how a member found with this superblock can come back.
  Return returning(const Superblock& found, unsigned role) const;
  // Replaces the first member that is out by the first spare. Returns false if no member is out or
  // there is no spare.
  Result<bool> take_spare();
  // Brings back a member that was out, at the same place or another; only the stripes it missed are
  // rebuilt. Fails with invalid_argument if it is another member or needs a full rebuild.
  Status readd(unsigned role);
  // Grows to a capacity of `bytes`, rounded up to whole stripes; 0 = as far as the smallest member
  // allows. The new part reads as zeros. Durable on return; after a crash the array has the old or
  // the new size. Other calls wait meanwhile. Fails with invalid_argument if a member is not in or
  // is being replaced, if a member or a spare is too small, and after growths_max growths.
  Status grow(std::uint64_t bytes);

  // Rebuilds up to `bytes` of each member that is rebuilding (at least one stripe), or copies a
  // member that is being replaced. Other calls may run at the same time. Reads ahead: the last
  // stripes are written by the next step, or when the progress becomes durable.
  Result<RebuildProgress> rebuild_step(std::uint64_t bytes, Progress progress = Progress::when_due);
  // Verifies the stripes from `position` on, up to `bytes` of capacity (at least one stripe), on
  // all members, and rewrites wrong blocks. Repairs are durable on return; fails if that is
  // impossible.
  Result<ScrubProgress> scrub_step(std::uint64_t position, std::uint64_t bytes);
  // Records scrubs on the members: with the next renewal of the lease, checkpoint or close().
  Status record_scrub(const ScrubHistory& scrub);

 private:
  struct Impl;
  explicit Array(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace calpe::array
