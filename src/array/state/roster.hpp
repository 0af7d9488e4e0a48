// SPDX-License-Identifier: Apache-2.0
// Who the members are and what is to be expected of them; all requests to them pass here.
//
// Locks: one mutex for records and reasons, taken last. No request is sent with it.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "array/format/members.hpp"
#include "array/format/superblock.hpp"

namespace calpe::array {

struct RoleCounters {
  std::atomic<std::uint64_t> read_errors = 0;
  std::atomic<std::uint64_t> write_errors = 0;
  std::atomic<std::uint64_t> blocks_wrong = 0;
  std::atomic<std::uint64_t> blocks_repaired = 0;  // durably
};

inline constexpr unsigned no_place = ~0U;

struct SparePlace {
  unsigned place = no_place;
  Uuid uuid = {};
  unsigned copy = 0;  // of its superblock that is the newest
};

// State of roles. Read by any thread; changed by mark_out(), which any thread may call, and by
// those who hold the array's commit lock.
class Roster {
 public:
  Roster(Members& members, const MemberLayout& layout);

  Members& members() noexcept { return members_; }
  unsigned place(unsigned role) const noexcept { return roles_[role].place; }
  void set_place(unsigned role, unsigned place) noexcept { roles_[role].place = place; }
  MemberState state(unsigned role) const noexcept { return roles_[role].state; }
  bool is_live(unsigned role) const noexcept { return state(role) != MemberState::out; }
  std::uint64_t watermark(unsigned role) const noexcept { return roles_[role].watermark; }
  void set_watermark(unsigned role, std::uint64_t stripe) noexcept {
    roles_[role].watermark = stripe;
  }
  RoleCounters& counters(unsigned role) noexcept { return roles_[role].counters; }
  const RoleCounters& counters(unsigned role) const noexcept { return roles_[role].counters; }
  unsigned& copy(unsigned role) noexcept { return roles_[role].copy; }
  std::vector<SparePlace>& spares() noexcept { return spares_; }
  const std::vector<SparePlace>& spares() const noexcept { return spares_; }

  // The role has the stripe as it is now.
  bool has(unsigned role, std::uint64_t stripe) const noexcept {
    const Role& one = roles_[role];
    const MemberState state = one.state;
    if (state == MemberState::in) return true;
    if (state == MemberState::out) return false;
    if (stripe < one.watermark) return true;
    return one.by_missed && !one.todo[stripe];
  }
  std::uint64_t having(std::uint64_t stripe) const noexcept {
    std::uint64_t roles = 0;
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if (has(role, stripe)) roles |= std::uint64_t{1} << role;
    }
    return roles;
  }
  std::uint64_t in_roles() const noexcept;
  std::uint64_t live_roles() const noexcept;
  unsigned not_in_count() const noexcept;
  unsigned may_fail() const noexcept;

  // Sets a state and what goes with it.
  void set(unsigned role, const RoleRecord& record);
  // For a role that will be rebuilding by_missed: what is_missed(stripe) says it has to get.
  template <class IsMissed>
  void set_todo(unsigned role, const IsMissed& is_missed) {
    Role& to = roles_[role];
    if (to.todo == nullptr) to.todo = std::make_unique<std::atomic<bool>[]>(layout_.stripes);
    for (std::uint64_t stripe = 0; stripe < layout_.stripes; ++stripe) {
      to.todo[stripe] = is_missed(stripe);
    }
  }
  void set_in(unsigned role, const RoleRecord& record);  // unless it failed meanwhile
  void set_changed() noexcept { changed_ = true; }
  // Never used again until somebody says so. Too many: `failed()` says why, and stays.
  void mark_out(unsigned role, const std::string& why, bool needs_full = false);
  void set_why(unsigned role, std::string why);
  void set_out_epoch(unsigned role, std::uint64_t epoch);
  // A member that is out has lost bytes, too: nothing on it counts any more.
  void set_needs_full(unsigned role);
  std::string why(unsigned role) const;
  RoleRecord record(unsigned role) const;
  std::string failed() const;
  bool is_failed() const noexcept { return is_failed_; }
  // Fails with unrecoverable and the reason once is_failed().
  Status check() const;
  // Nothing may be read or written any more, though members are there: another server has them.
  void stop(const std::string& why);
  bool is_stopped() const noexcept { return is_stopped_; }

  // Somebody went out since the last superblock was written; asking forgets it.
  bool take_changed() noexcept { return changed_.exchange(false); }
  bool is_changed() const noexcept { return changed_; }
  // Somebody went out since this was asked last: what the log holds he may not have in its place.
  bool take_left() noexcept { return left_.exchange(false); }

  // Called before the members get requests; it may stop() the roster.
  void set_guard(std::function<void()> guard) { guard_ = std::move(guard); }
  // Requests whose `member` is a role: translated, run, counted, and translated back. A role whose
  // write or flush fails is out afterwards; returns the roles of failed requests.
  std::uint64_t run(std::span<MemberRequest> batch);
  // The two halves of run(), for what must be decided between them: the guard may write
  // superblocks, and so changes which copy the next one may overwrite.
  void pass_guard() {
    if (guard_) guard_();
  }
  std::uint64_t run_past_guard(std::span<MemberRequest> batch);

 private:
  std::uint64_t refuse(std::span<MemberRequest> batch) const;
  struct Role {
    std::atomic<unsigned> place = no_place;
    std::atomic<MemberState> state = MemberState::out;
    std::atomic<std::uint64_t> watermark = 0;
    std::atomic<bool> by_missed = false;
    std::unique_ptr<std::atomic<bool>[]> todo;  // never freed before the roster: others may look
    RoleCounters counters = {};
    RoleRecord record = {};  // but for state and watermark
    std::string why = {};
    unsigned copy = 0;
  };

  Members& members_;
  const MemberLayout& layout_;
  std::array<Role, members_most> roles_;
  std::vector<SparePlace> spares_ = {};
  std::function<void()> guard_ = {};
  mutable std::mutex mutex_;  // of records, reasons and failed_
  std::string failed_ = {};
  std::atomic<bool> is_failed_ = false;
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> changed_ = false;
  std::atomic<bool> left_ = false;
};

}  // namespace calpe::array
