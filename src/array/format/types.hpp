// SPDX-License-Identifier: Apache-2.0
// Types of the array's calls: settings, states of members, status.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "array/format/lease.hpp"
#include "base/uuid.hpp"

namespace calpe::array {

inline constexpr std::uint64_t block_bytes = 4096;
inline constexpr unsigned members_most = 64;  // k + m, and places
inline constexpr unsigned no_role = 0xFFFF;   // spare or unused place

// Fixed settings of an array. 0 = chosen to suit the members.
struct Settings {
  CodeSpec spec = {};                 // k, m and a profile, layout bytes, MDS
  std::uint64_t bytes = 0;            // capacity; a multiple of 4096
  std::uint32_t chunk_bytes = 65536;  // of a stripe on one member; a multiple of 4096, up to 1 MiB
  std::uint64_t log_bytes = 0;        // per member; a multiple of 4096, at least 2 chunks + 16 KiB
  std::uint32_t spare_slots = 0;      // slots beyond the number of stripes; at least 2
};

enum class MemberState : std::uint8_t {
  in = 0,          // has everything
  out = 1,         // missed writes, or is missing
  rebuilding = 2,  // has a part of the stripes
  spare = 3,       // unused, can replace a member
  none = 4,        // unused place: empty, foreign, or replaced earlier
};

// Scrubs of an array, over all openings. Times are Unix times in seconds.
struct ScrubHistory {
  struct Found {
    std::uint64_t wrong = 0;  // blocks
    std::uint64_t repaired = 0;
    std::uint64_t lost = 0;  // columns with more than m wrong blocks, or contradictory ones
    bool operator==(const Found&) const = default;
  };
  // The scrub that is running or was interrupted.
  std::int64_t begun = 0;  // 0 = none
  std::uint64_t next = 0;  // position for its next step
  Found found = {};
  // Complete scrubs.
  std::uint32_t complete = 0;  // number of them
  std::int64_t last_begun = 0;
  std::int64_t last_end = 0;  // 0 = none
  Found last_found = {};
  bool operator==(const ScrubHistory&) const = default;
};

struct MemberStatus {
  unsigned place = 0;       // index in Members; count() if the member has none
  unsigned role = no_role;  // 0 .. k + m - 1
  MemberState state = MemberState::none;
  Uuid uuid = {};
  std::uint64_t epoch = 0;         // of its newest superblock, at opening
  std::string why = {};            // why it is not in: "cannot write m3: Input/output error"
  bool can_return = false;         // out but present: lacks only the stripes written meanwhile
  bool on_request = false;         // out until an operator puts it back
  std::uint64_t stripes_done = 0;  // rebuilding: out of ArrayStatus::stripes
  // The place that will replace it, and the stripes that are copied to it.
  std::optional<unsigned> successor_place = {};
  std::uint64_t stripes_copied = 0;
  // Counted on its disk, over all openings:
  std::uint64_t read_errors = 0;
  std::uint64_t write_errors = 0;
  std::uint64_t blocks_wrong = 0;     // did not match their checksums
  std::uint64_t blocks_repaired = 0;  // durable repairs, after flush() or a scrub
};

struct Inspection {
  Uuid uuid = {};
  Settings settings = {};  // all set
  std::uint64_t epoch = 0;
  std::uint64_t lease_id = 0;    // of the last server
  std::uint64_t generation = 0;  // of the log
  bool is_clean = false;         // closed: nothing to recover
  unsigned may_fail = 0;         // number of further members that may fail
  ScrubHistory scrub = {};
  std::vector<MemberStatus> members = {};  // by role, then spares and unused places
};

// The lease of the process that opens an array for writing (exclusive.hpp). Thread-safe.
class LeaseKeeper {
 public:
  virtual ~LeaseKeeper() = default;
  virtual std::uint64_t id() const noexcept = 0;  // never 0
  virtual LeaseHolder holder() const = 0;
  // Called just before the claim is written. Fails if another server claimed the array after its
  // lease was found to be free.
  virtual Status check_free() = 0;
  // Called after the claim: waits until a simultaneous claim of another server would be visible.
  virtual void settle() = 0;
  virtual std::int64_t now() const = 0;  // milliseconds of a clock that also runs while suspended
  virtual void set_renewed(std::int64_t when) noexcept = 0;
  virtual bool is_due() const = 0;   // a renewal time has passed since the last renewal
  virtual bool is_late() const = 0;  // another server may soon take over the lease

 protected:
  LeaseKeeper() = default;
  LeaseKeeper(const LeaseKeeper&) = default;
  LeaseKeeper& operator=(const LeaseKeeper&) = default;
};

struct OpenOptions {
  // Refuse to open if a member that is `in` is missing, instead of taking it out.
  bool needs_all = false;
  std::size_t cache_bytes = std::size_t{64} << 20U;  // of checksums; changed ones may exceed it
  // After recovery, calls that change something fail. Recovery itself writes, so `members` must
  // keep its writes in memory (overlay_members.hpp).
  bool is_read_only = false;
  // Claimed before anything else is written; must outlive the array. nullptr = claim none, and
  // ignore the lease of another server (open_exclusively() respects it).
  LeaseKeeper* lease = nullptr;
  bool has_lease = false;  // this process holds it already
};

struct ArrayStatus {
  Inspection now = {};
  std::uint64_t stripes = 0;
  std::uint64_t stripes_mapped = 0;  // not holes
  std::uint64_t slots_free = 0;
  std::uint64_t stripes_missed = 0;  // written while a member was out
  std::uint64_t log_bytes_used = 0;  // on the fullest member
  std::uint64_t commits = 0;         // since open
  std::uint64_t checkpoints = 0;
  std::uint64_t batches_replayed = 0;   // by open()
  std::uint64_t blocks_unreadable = 0;  // in columns with more than m wrong blocks
  // Blocks of data that cannot be read, as far as known since open; a scrub finds all of them.
  std::uint64_t blocks_lost = 0;
  std::uint64_t first_lost = 0;  // offset of the first one
  std::string failed = {};       // why the array has failed; empty = it works
};

enum class Durability : std::uint8_t { cached, durable };

struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool is_data = false;  // false = never written or trimmed, reads as zeros
  bool operator==(const Extent&) const = default;
};

// When the progress of a rebuild or a copy becomes durable: what is not is repeated after a crash.
enum class Progress : std::uint8_t {
  when_due,  // after progress_bytes_most of each member, and at the end
  now,       // with this step
};
inline constexpr std::uint64_t progress_bytes_most = std::uint64_t{1} << 30U;

struct RebuildProgress {
  std::uint64_t stripes_done = 0;  // of the slowest member; not all are durable
  std::uint64_t stripes = 0;
  std::uint64_t bytes_read = 0;  // by this step, from all members
  bool is_complete = true;       // no member is rebuilding
};

struct ScrubProgress {
  std::uint64_t next = 0;  // position for the next step; bytes() at the end
  std::uint64_t blocks_checked = 0;
  std::vector<std::uint64_t> blocks_wrong = {};  // by role
  std::uint64_t blocks_repaired = 0;             // durable repairs
  std::uint64_t columns_lost = 0;                // more than m blocks wrong: reads fail
  std::uint64_t columns_contradicting = 0;       // checksums match, but parity does not
};

// How a member that comes back can rejoin.
enum class Return : std::uint8_t {
  by_missed,  // rebuild only the stripes it missed
  in_full,    // rebuild all of it
  diverged,   // split brain: it may hold writes that the others lack
};

}  // namespace calpe::array
