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

#include "store/array/lease.hpp"
#include "store/array/members.hpp"
#include "store/shard_header.hpp"

namespace calpe::store::array {

inline constexpr std::uint64_t block_bytes = 4096;
inline constexpr unsigned members_most = 64;  // k + m, and places
inline constexpr unsigned no_role = 0xFFFF;   // of a spare, and of what is nobody's

struct Superblock;

// What an array is for good. 0: chosen to suit the members.
struct Settings {
  CodeSpec spec = {};                 // k, m and a profile, layout bytes, MDS
  std::uint64_t bytes = 0;            // capacity; a multiple of 4096
  std::uint32_t chunk_bytes = 65536;  // of a stripe on one member; a multiple of 4096, to 1 MiB
  std::uint64_t log_bytes = 0;        // per member; a multiple of 4096, at least 2 chunks + 16 KiB
  std::uint32_t spare_slots = 0;      // more stripe slots than stripes; at least 2
};

// Formats places 0 .. k + m - 1 as members and further ones that have bytes as spares. Whatever
// was on them is lost. Fails with invalid_argument when a setting or a size does not fit (names the
// place), and with io.
Status create(Members& members, const Settings& settings, const Uuid& uuid);

// Fails as create() would, with places of these sizes; 0: nothing is there. Reads and writes
// nothing.
Status check_create(const Settings& settings, std::span<const std::uint64_t> bytes);

enum class MemberState : std::uint8_t {
  in = 0,          // has everything
  out = 1,         // missed writes, or is not there
  rebuilding = 2,  // has the stripes below the watermark
  spare = 3,       // waits
  none = 4,        // a place that belongs to nobody: empty, foreign, or replaced earlier
};

struct MemberStatus {
  unsigned place = 0;       // of Members; count() when a role has none
  unsigned role = no_role;  // 0 .. k + m - 1
  MemberState state = MemberState::none;
  Uuid uuid = {};
  std::uint64_t epoch = 0;         // of its newest superblock, when it was opened
  std::string why = {};            // not in: "place 3 failed: input/output error"
  bool can_return = false;         // out, and there: only the stripes written meanwhile are missing
  std::uint64_t stripes_done = 0;  // rebuilding: of Status::stripes
  std::uint64_t read_errors = 0;   // since open
  std::uint64_t write_errors = 0;
  std::uint64_t blocks_wrong = 0;     // did not match their checksums
  std::uint64_t blocks_repaired = 0;  // durably: flush() or a scrub made them so
};

struct Inspection {
  Uuid uuid = {};
  Settings settings = {};  // nothing left to defaults
  std::uint64_t epoch = 0;
  std::uint64_t lease_id = 0;              // of the server that claimed it last
  std::uint64_t generation = 0;            // of the log
  bool is_clean = false;                   // closed: nothing is to be recovered
  unsigned may_fail = 0;                   // so many further members may be lost
  std::vector<MemberStatus> members = {};  // the roles in order, then spares and others
};

// What superblocks say; changes nothing. Fails with corrupt when no place has one, with
// invalid_argument when places are of two arrays, or a member is there twice.
Result<Inspection> inspect(Members& members);

// The lease of the process that opens an array for writing (exclusive.hpp). Any thread may ask.
class LeaseKeeper {
 public:
  virtual ~LeaseKeeper() = default;
  virtual std::uint64_t id() const noexcept = 0;  // never 0
  virtual LeaseHolder holder() const = 0;
  // Asked just before the claim is written. Fails when another server has claimed the array since
  // its lease was found to be free.
  virtual Status check_free() = 0;
  // Called after the claim: waits until a claim that another made at the same time can be seen.
  virtual void settle() = 0;
  virtual std::int64_t now() const = 0;  // milliseconds of a clock that counts while suspended
  virtual void set_renewed(std::int64_t when) noexcept = 0;
  virtual bool is_due() const = 0;   // a renewal time has passed since the last renewal
  virtual bool is_late() const = 0;  // another server may soon take the lease over

 protected:
  LeaseKeeper() = default;
  LeaseKeeper(const LeaseKeeper&) = default;
  LeaseKeeper& operator=(const LeaseKeeper&) = default;
};

struct OpenOptions {
  // Refuse when a member that is `in` is missing, instead of going on without it for good.
  bool needs_all = false;
  std::size_t cache_bytes = std::size_t{64} << 20U;  // of checksums; what changed is kept beyond it
  // Nothing is written to the members: after recovery, calls that change something fail.
  // Recovery itself writes, so `members` must keep that in memory (overlay_members.hpp).
  bool is_read_only = false;
  // Claimed before anything else is written; must outlive the array. nullptr: none is claimed, and
  // one that is there is ignored (open_exclusively() honours it).
  LeaseKeeper* lease = nullptr;
};

struct ArrayStatus {
  Inspection now = {};
  std::uint64_t stripes = 0;
  std::uint64_t stripes_mapped = 0;  // hold something
  std::uint64_t slots_free = 0;
  std::uint64_t stripes_missed = 0;  // written while a member was out
  std::uint64_t log_bytes_used = 0;  // of the fullest member
  std::uint64_t commits = 0;         // since open
  std::uint64_t checkpoints = 0;
  std::uint64_t batches_replayed = 0;   // by open()
  std::uint64_t blocks_unreadable = 0;  // more than m of a column were wrong
  std::string failed = {};              // why nothing can be written any more; empty: it can
};

enum class Durability : std::uint8_t { cached, durable };

struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool is_data = false;  // false: never written or trimmed, reads as zeros
  bool operator==(const Extent&) const = default;
};

struct RebuildProgress {
  std::uint64_t stripes_done = 0;  // of the member that is least far
  std::uint64_t stripes = 0;
  std::uint64_t bytes_read = 0;  // by this step, of all members
  bool is_complete = true;       // nobody is rebuilding any more
};

struct ScrubProgress {
  std::uint64_t next = 0;  // position for the next step; bytes() at the end
  std::uint64_t blocks_checked = 0;
  std::vector<std::uint64_t> blocks_wrong = {};  // by role
  std::uint64_t blocks_repaired = 0;             // durably
  std::uint64_t columns_lost = 0;                // more than m wrong: reading them fails
  std::uint64_t columns_contradicting = 0;  // right by checksums, but parity is not of the data
};

// A superblock of the array's member of that role, as it was found when the member came back.
enum class Return : std::uint8_t {
  by_missed,  // it lacks only what is known
  in_full,    // it was away for longer
  diverged,   // it was in use without the others, and may have writes that nothing else has
};

// One more parity member on a new place: m becomes m + 1, and whoever opens the array has that
// member to rebuild. The array must not be open. Fails with invalid_argument when the profile's
// parity rows change with m, a member is missing or there is no room for more.
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

  // Rebuilds up to so many bytes of each member that is rebuilding (at least one stripe), and makes
  // the watermark durable. Other calls go on beside it.
  Result<RebuildProgress> rebuild_step(std::uint64_t bytes);
  // Reads and verifies all members of the stripes from `position` on, up to so many bytes of
  // capacity (at least one stripe), and rewrites wrong blocks. Repairs are durable when it returns;
  // fails when they cannot be made so.
  Result<ScrubProgress> scrub_step(std::uint64_t position, std::uint64_t bytes);

 private:
  struct Impl;
  explicit Array(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace calpe::store::array
