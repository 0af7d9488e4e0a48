// SPDX-License-Identifier: Apache-2.0
// The members and their states. All requests to members pass through here.
//
// Locks: one mutex for records and reasons, taken last. No request is sent while it is held.
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
#include "array/state/todo_stripes.hpp"

namespace calpe::array {

// Counted over all openings: superblocks store them.
struct RoleCounters {
  std::atomic<std::uint64_t> read_errors = 0;
  std::atomic<std::uint64_t> write_errors = 0;
  std::atomic<std::uint64_t> blocks_wrong = 0;
  std::atomic<std::uint64_t> blocks_repaired = 0;  // durable repairs
};

inline constexpr unsigned no_place = ~0U;
inline constexpr const char* taken_out_text = "it was taken out on request";
inline constexpr const char* taken_out_missing_text = "it was taken out on request and is missing";
inline constexpr const char* no_memory_text =
    "the array stopped because it ran out of memory; restart its server, which recovers all "
    "acknowledged writes";

struct SparePlace {
  unsigned place = no_place;
  Uuid uuid = {};
  unsigned copy = 0;  // number of the newest copy of its superblock
};

// Where the successor of a role is (core/member_copy.hpp).
struct SuccessorAt {
  unsigned role = no_role;  // no_role = none
  unsigned place = no_place;
  bool operator==(const SuccessorAt&) const = default;
};

// How a member that goes out can come back.
enum class Exit : std::uint8_t {
  may_return,  // with the stripes it missed, when it is found again
  needs_full,  // it lost bytes: by a full rebuild
  on_request,  // as with may_return, but only when an operator puts it back
};

// State of the roles. Any thread may read it and call mark_out(); other changes need the commit
// lock of the array.
class Roster {
 public:
  Roster(Members& members, const MemberLayout& layout);

  Members& members() noexcept { return members_; }
  unsigned place(unsigned role) const noexcept { return roles_[role].place; }
  void set_place(unsigned role, unsigned place) noexcept { roles_[role].place = place; }
  MemberState state(unsigned role) const noexcept { return roles_[role].state; }
  bool is_live(unsigned role) const noexcept { return state(role) != MemberState::out; }
  // How far the rebuild of a role is durable.
  std::uint64_t watermark(unsigned role) const noexcept { return roles_[role].watermark; }
  std::uint64_t slots_done(unsigned role) const noexcept { return roles_[role].slots_done; }
  void set_progress(unsigned role, std::uint64_t watermark, std::uint64_t slots_done) noexcept {
    roles_[role].watermark = watermark;
    roles_[role].slots_done = slots_done;
  }
  // Stripes that a role which is being rebuilt still lacks.
  std::uint64_t todo_count(unsigned role) const noexcept {
    const TodoStripes* const todo = roles_[role].todo.get();
    return todo == nullptr ? layout_.stripes : todo->count();
  }
  // The first one. Only for the thread of the rebuild.
  std::uint64_t first_todo(unsigned role) const noexcept {
    const TodoStripes* const todo = roles_[role].todo.get();
    return todo == nullptr ? 0 : todo->lowest();
  }
  // The roles have the current contents of the stripe. Needs its exclusive lock.
  void set_has(std::uint64_t roles, std::uint64_t stripe) noexcept {
    for (; roles != 0; roles &= roles - 1) {
      TodoStripes* const todo = roles_[static_cast<unsigned>(std::countr_zero(roles))].todo.get();
      if (todo != nullptr) todo->clear(stripe);
    }
  }
  // Numbers that change whenever a role begins to be rebuilt or copied.
  std::uint64_t rebuilds_begun() const noexcept { return rebuilds_begun_; }
  std::uint64_t copies_begun() const noexcept { return copies_begun_; }
  RoleCounters& counters(unsigned role) noexcept { return roles_[role].counters; }
  const RoleCounters& counters(unsigned role) const noexcept { return roles_[role].counters; }
  MemberErrors errors(unsigned role) const noexcept;
  // Sets those of another disk, or those that the superblock has.
  void set_errors(unsigned role, const MemberErrors& errors) noexcept;
  unsigned& copy(unsigned role) noexcept { return roles_[role].copy; }
  std::vector<SparePlace>& spares() noexcept { return spares_; }
  const std::vector<SparePlace>& spares() const noexcept { return spares_; }

  // True if the role has the current contents of the stripe.
  bool has(unsigned role, std::uint64_t stripe) const noexcept {
    const Role& one = roles_[role];
    const MemberState state = one.state;
    if (state == MemberState::in) return true;
    if (state == MemberState::out) return false;
    return one.todo != nullptr && !one.todo->has(stripe);
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
  // True if at most m members lack without those at these places, or none of them is in use.
  bool can_do_without(std::uint64_t places) const noexcept;

  // Sets the state and related fields.
  void set(unsigned role, const RoleRecord& record);
  // For a role that will be rebuilding: it needs the stripes with is_todo(stripe). No writer runs.
  template <class IsTodo>
  void set_todo(unsigned role, const IsTodo& is_todo) {
    Role& to = roles_[role];
    if (to.todo == nullptr) to.todo = std::make_unique<TodoStripes>(layout_.stripes);
    to.todo->set(is_todo);
    ++rebuilds_begun_;
  }
  void set_in(unsigned role, const RoleRecord& record);  // unless it failed in the meantime
  void set_changed() noexcept { changed_ = true; }
  // Stops using a member until it is replaced or comes back. If too many are out, failed() returns
  // the reason, permanently.
  void mark_out(unsigned role, const std::string& why, Exit exit = Exit::may_return);
  void set_why(unsigned role, std::string why);
  void set_out_epoch(unsigned role, std::uint64_t epoch);
  // A member that is out has also lost bytes, so it needs a full rebuild.
  void set_needs_full(unsigned role);
  std::string why(unsigned role) const;
  RoleRecord record(unsigned role) const;
  std::string failed() const;
  bool is_failed() const noexcept { return is_failed_; }
  // Fails with unrecoverable and the reason once is_failed().
  Status check() const;
  // Stops all reads and writes, although members are present: another server uses them.
  void stop(const std::string& why);
  // The same after a failed allocation, and allocates nothing. Changes in memory may be incomplete;
  // those on the members are as after a power cut.
  void stop_without_memory() noexcept;
  bool is_stopped() const noexcept { return is_stopped_; }

  // Returns whether a member went out since the last superblock, and resets it.
  bool take_changed() noexcept { return changed_.exchange(false); }
  bool is_changed() const noexcept { return changed_; }
  // Returns whether a member went out since the last call. The blocks in the log may not be in
  // place on that member.
  bool take_left() noexcept { return left_.exchange(false); }

  // --- the successor of a role that is in --------------------------------------------------------
  // It gets all writes and flushes of the role, except superblocks. If one fails, there is no
  // successor any more, and is_changed().
  SuccessorAt successor() const noexcept {
    const std::uint64_t both = successor_;
    return {static_cast<unsigned>(both >> 32U), static_cast<unsigned>(both)};
  }
  void set_successor(const SuccessorAt& to, std::uint64_t slots) noexcept {
    successor_slots_ = slots;
    ++copies_begun_;
    successor_ = std::uint64_t{to.role} << 32U | to.place;
  }
  void end_successor() noexcept { set_successor({}, 0); }
  void drop_successor(const std::string& why);
  std::string why_no_successor() const;
  // Slots, from the first one, whose chunks it has durably.
  std::uint64_t successor_slots() const noexcept { return successor_slots_; }
  void set_successor_slots(std::uint64_t slots) noexcept { successor_slots_ = slots; }
  // Runs requests whose `member` is the place of the successor. Does nothing if it is no longer
  // one.
  void run_on_successor(const SuccessorAt& to, std::span<MemberRequest> batch);

  // Called before each request to members; it may stop() the roster.
  void set_guard(std::function<void()> guard) { guard_ = std::move(guard); }
  // Runs requests whose `member` is a role, and counts errors. A role whose write or flush fails is
  // out afterwards. Returns the roles of failed requests.
  std::uint64_t run(std::span<MemberRequest> batch);
  // The same, together with requests to the successor `to` if there is one; calls `work` once,
  // which may do other work while the members are busy, but sends no requests.
  std::uint64_t run_with(std::span<MemberRequest> batch, const SuccessorAt& to,
                         std::span<MemberRequest> of_successor, const std::function<void()>& work);
  // The two halves of run(), for callers that must decide something in between: the guard may write
  // superblocks, which changes the copy that the next one may overwrite.
  void pass_guard() {
    if (guard_) guard_();
  }
  std::uint64_t run_past_guard(std::span<MemberRequest> batch);

 private:
  std::uint64_t refuse(std::span<MemberRequest> batch) const;
  struct Copies {
    std::vector<MemberRequest> requests{};
    std::vector<std::size_t> of{};  // the request that each one copies
  };
  static Copies copies_for(const SuccessorAt& to, std::span<MemberRequest> batch);
  std::uint64_t note_errors(std::span<MemberRequest> batch, std::span<const unsigned> roles);
  void run_with_copies(std::span<MemberRequest> batch, Copies& copies, const SuccessorAt& to);
  struct Role {
    std::atomic<unsigned> place = no_place;
    std::atomic<MemberState> state = MemberState::out;
    std::atomic<std::uint64_t> watermark = 0;
    std::atomic<std::uint64_t> slots_done = 0;
    std::unique_ptr<TodoStripes> todo;  // kept, as other threads may read it
    RoleCounters counters = {};
    RoleRecord record = {};  // except state, watermark and errors
    std::string why = {};
    unsigned copy = 0;
  };

  Members& members_;
  const MemberLayout& layout_;
  std::array<Role, members_most> roles_;
  std::vector<SparePlace> spares_ = {};
  std::function<void()> guard_ = {};
  mutable std::mutex mutex_;  // guards records, reasons and failed_
  std::string failed_ = {};
  std::atomic<bool> is_failed_ = false;
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> changed_ = false;
  std::atomic<bool> left_ = false;
  std::atomic<std::uint64_t> successor_ = std::uint64_t{no_role} << 32U | no_place;
  std::atomic<std::uint64_t> successor_slots_ = 0;
  std::atomic<std::uint64_t> rebuilds_begun_ = 0;
  std::atomic<std::uint64_t> copies_begun_ = 0;
  std::string why_no_successor_ = {};
};

}  // namespace calpe::array
