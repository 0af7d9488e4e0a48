// SPDX-License-Identifier: Apache-2.0
// What calls of an array take and return: its settings, the states of its members, its status.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "array/format/lease.hpp"
#include "base/uuid.hpp"

namespace calpe::array {

inline constexpr std::uint64_t block_bytes = 4096;
inline constexpr unsigned members_most = 64;  // k + m, and places
inline constexpr unsigned no_role = 0xFFFF;   // of a spare, and of what is nobody's

// What an array is for good. 0: chosen to suit the members.
struct Settings {
  CodeSpec spec = {};                 // k, m and a profile, layout bytes, MDS
  std::uint64_t bytes = 0;            // capacity; a multiple of 4096
  std::uint32_t chunk_bytes = 65536;  // of a stripe on one member; a multiple of 4096, to 1 MiB
  std::uint64_t log_bytes = 0;        // per member; a multiple of 4096, at least 2 chunks + 16 KiB
  std::uint32_t spare_slots = 0;      // more stripe slots than stripes; at least 2
};

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

}  // namespace calpe::array
