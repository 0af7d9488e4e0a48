// SPDX-License-Identifier: Apache-2.0
// The log of an open array. A commit appends the pending batch durably to the logs of its members.
// The next commit or checkpoint writes it in place: together with its own requests, so that no call
// waits for it. A checkpoint makes the blocks durable in place and empties the log.
// Superblocks are also written here: a member that went out is recorded on the remaining ones
// before any write it missed is acknowledged.
//
// Locks: one commit lock, taken by commit(), checkpoint() and similar calls, and held over several
// steps by Log::Locked. It is taken after the locks of stripes, and its holder takes none of those,
// so a thread that holds a stripe may commit.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <calpe/result.hpp>

#include "array/core/applied_batches.hpp"
#include "array/core/held_lease.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/superblocks.hpp"
#include "base/try.hpp"

namespace calpe::array {

class Log {
 public:
  class Locked;

  Log(SharedState& shared, const Superblock& newest);

  // Makes all changes durable that were put before the call. Calls that wait for a running commit
  // share the next one. This and all calls below fail with unrecoverable if too many members are
  // out.
  Status commit();
  // Commits, then empties the log.
  Status checkpoint();
  // Makes a checkpoint and marks the array clean, without a lease.
  Status close();
  // Adds a change to the pending batch (Overlay::put), and commits if the batch is full. The caller
  // holds the lock of the stripe.
  template <class Change>
  Status put(const Change& change) {
    return put(change, [] {});
  }
  template <class Change, class Fill>
  Status put(const Change& change, const Fill& fill) {
    while (!roster_.is_failed()) {
      bool is_put = false;
      CALPE_CHECK(or_stop([&]() -> Status {
        is_put = overlay_.put(change, fill);
        return Done{};
      }));
      if (is_put) return Done{};
      CALPE_CHECK(commit());
    }
    return roster_.check();
  }

  // --- the lease (held_lease.hpp) ----------------------------------------------------------------
  Status claim_lease();
  Status keep_lease();  // that this process holds already
  void end_opening() noexcept { lease_.end_opening(); }
  Status renew_lease();
  // Becomes durable with the next superblock, or renewal of the lease.
  void set_scrub(const ScrubHistory& scrub);

  // False until recovery has ended, as there is no log to append to.
  bool can_append() const noexcept { return can_append_; }
  // Time for a checkpoint: a full log stops commits until it is empty. Takes no lock.
  bool is_half_full() const noexcept { return is_half_full_; }
  // Since the array was opened.
  std::uint64_t commits() const noexcept { return commits_; }
  std::uint64_t checkpoints() const noexcept { return checkpoints_; }

 private:
  static constexpr std::size_t requests_most = 1024;  // at once, as each needs memory

  // Stops the array if an allocation of `work` fails: its state in memory is then incomplete. The
  // members are as after a power cut, so opening the array again recovers it.
  template <class Work>
  Status or_stop(const Work& work) {
    try {
      return work();
    } catch (const std::exception&) {
      roster_.stop_without_memory();
    }
    return roster_.check();
  }

  // All need the commit lock.
  Status commit_locked();
  using BeforeSuperblock = std::function<void()>;
  Status checkpoint_locked(const BeforeSuperblock& before = {}) {
    return or_stop([&] { return checkpoint_all(before); });
  }
  // In commit.cpp:
  Status commit_all();
  Status commit_batch();
  Status append(BatchHeader& header);
  void add_in_place(std::vector<MemberRequest>& requests);
  void write_in_place();
  void flush_live();
  Status settle_members();
  // In checkpoint.cpp:
  Status checkpoint_all(const BeforeSuperblock& before);
  void write_tables(unsigned copy, const std::vector<ChecksumTable::Dirty>& pages);

  const MemberLayout& layout_;
  const Uuid& array_;
  Roster& roster_;
  Index& index_;
  ChecksumTable& table_;
  Overlay& overlay_;

  std::mutex mutex_;  // the commit lock; guards all below except atomics
  Superblocks superblocks_;
  HeldLease lease_;
  AppliedBatches applied_;
  std::array<std::uint64_t, members_most> used_ = {};  // bytes used in each role's log
  std::uint64_t sequence_ = 0;                         // of the last batch
  bool can_append_ = false;                            // set while one thread opens the array
  std::atomic<std::uint64_t> commits_begun_ = 0;       // with and without a batch
  std::uint64_t commit_done_ = 0;                      // number of the last one that succeeded
  std::atomic<bool> is_half_full_ = false;
  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<std::uint64_t> checkpoints_ = 0;
};

// Holds the commit lock and offers the calls that need it. While it exists, nothing else changes
// the log, the superblock or the index.
class Log::Locked {
 public:
  explicit Locked(Log& log) : log_(log), lock_(log.mutex_) {}
  // Returns nullopt if another thread holds the lock.
  static std::optional<Locked> try_lock(Log& log) {
    std::unique_lock lock(log.mutex_, std::try_to_lock);
    if (!lock) return std::nullopt;
    return Locked(log, std::move(lock));
  }

  Status commit() { return log_.commit_locked(); }
  // Empties the log. Does not commit pending changes; call commit() first.
  Status checkpoint() { return log_.checkpoint_locked(); }
  // The same; calls `before` when all but the superblocks is durable, so that they record what it
  // changes in the roster.
  Status checkpoint(const std::function<void()>& before) { return log_.checkpoint_locked(before); }
  // Writes superblocks until all changes of the roster are durable.
  Status settle_members() { return log_.settle_members(); }
  Status check_lease() { return log_.lease_.check(); }
  // From now on this thread, the only one that uses the array, renews the lease when it is due.
  void renew_lease_alone() noexcept { log_.lease_.begin_opening(); }
  // Makes the array larger, with an empty log and this index in copy 0. Afterwards this object must
  // not be used any longer.
  Status write_grown(const Growth& to, std::uint64_t index_root);

  const Superblocks& superblocks() const noexcept { return log_.superblocks_; }
  std::uint64_t used(unsigned role) const noexcept { return log_.used_[role]; }

  // --- recovery, in this order -------------------------------------------------------------------
  void begin_session(bool is_member_missing) { log_.superblocks_.begin_session(is_member_missing); }
  void apply(const BatchHeader& header) { log_.applied_.apply(header); }
  // The first checkpoint, after which the log can be appended to.
  Status begin_appending();

 private:
  Locked(Log& log, std::unique_lock<std::mutex> lock) : log_(log), lock_(std::move(lock)) {}

  Log& log_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace calpe::array
