// SPDX-License-Identifier: Apache-2.0
// An open array and its upkeep: checkpoints, spares, rebuild and scrub at a rate, members that come
// back.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "array/array.hpp"
#include "array/exclusive.hpp"
#include "array/members/deadline_members.hpp"
#include "array/members/file_members.hpp"
#include "array/members/overlay_members.hpp"
#include "array/service/event.hpp"
#include "array/service/hook_runner.hpp"
#include "array/service/pace.hpp"

namespace calpe::array {

struct ServiceOptions {
  std::uint64_t rebuild_rate = 0;  // bytes of a member per second, 0 = no limit
  std::uint64_t scrub_rate = 0;    // bytes of capacity per second, 0 = no limit
  bool takes_spares = true;        // use a spare when a member is out
  bool is_paused = false;          // start without rebuild and scrub
  // Nothing is written to the members: the log is replayed in memory, and there is no upkeep.
  bool is_read_only = false;
  std::uint32_t lease_milliseconds = array::lease_renewal_milliseconds;  // between renewals
  // A member that does not answer for so long fails; 0 = wait for ever. By default 30 s for members
  // behind a network or FUSE, and no limit for others, for which the kernel has its own.
  std::optional<std::uint32_t> member_timeout_milliseconds = {};
  std::string hook = {};  // program to run for each event; empty = none
  // Start a scrub when the last complete one is older; 0 = only on request.
  std::uint32_t scrub_every_seconds = 0;
  bool is_server = false;  // resume a scrub that was interrupted
};

// State of the running or interrupted scrub, or of the last one.
struct ScrubState {
  bool is_running = false;
  std::uint64_t done = 0;  // bytes of capacity
  std::uint64_t all = 0;
  std::uint64_t found = 0;  // wrong blocks
  std::uint64_t repaired = 0;
  std::uint64_t columns_lost = 0;  // more than m blocks wrong, or contradictory
  std::uint64_t scrubs_ended = 0;
  std::int64_t last_end = 0;  // Unix time of the last complete scrub; 0 = none
  std::string why = {};       // why it stopped early
  ScrubHistory history = {};
};

// A path that was given, but is not a member.
struct UnusedPath {
  unsigned place = 0;
  std::string path = {};
  std::string why = {};
};

// "3 blocks cannot be recovered (first at offset 4096); restore them from a backup or ..."
std::string lost_text(std::uint64_t blocks, std::uint64_t first);

Event member_back(unsigned role);

// Thread-safe, except open, start and close.
class Service {
 public:
  using Say = std::function<void(const Event& event)>;  // tells the operator

  // Opens the members and the array. Starts no threads.
  static Result<std::unique_ptr<Service>> open(std::vector<std::string> members,
                                               const ServiceOptions& options);
  ~Service();  // stops; without close() the next open() recovers
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  array::Array& array() noexcept { return *array_; }
  // Does not wait for a member: if a commit takes long, some numbers are those of the last call.
  array::ArrayStatus status();
  // Bit set of places that do not answer.
  std::uint64_t hung_places() const noexcept { return deadlines_->hung(); }
  array::FileMembers& members() noexcept { return *members_; }

  // Paths that were not members when the array was opened, and are still unused.
  std::vector<UnusedPath> unused_paths(const array::ArrayStatus& status) const;

  void start(Say say);  // starts the upkeep thread
  Status close();       // stops, makes a checkpoint, marks the array clean

  Status fail(unsigned role);
  // Makes the file or disk at `path` the member. A live member serves until the rebuild has copied
  // it; remove_spare() of the new one cancels that. A member that is out: the old one, put back,
  // only gets the writes it missed; anything else is rebuilt in full. Unless forced, fails with
  // invalid_argument if this would erase data, a member of another array or a side of a split
  // brain.
  Status replace(unsigned role, const std::string& path, bool is_forced = false);
  // Brings back a member that is out, at its own place, with the writes it missed.
  Status retry(unsigned role);
  Status add_spare(const std::string& path, bool is_forced = false);
  // Erases the superblocks of the spare, and closes and unlocks it.
  Status remove_spare(const std::string& path);
  // Grows to `bytes` of capacity, or as far as the members allow if it is 0. Takes note of members
  // that were made larger. Returns the new capacity.
  Result<std::uint64_t> grow(std::uint64_t bytes);
  // What grow() would return. Changes nothing.
  Result<std::uint64_t> check_grow(std::uint64_t bytes);
  Status begin_scrub();
  void stop_scrub();

  ScrubState scrub_state() const;
  ServiceOptions options() const;
  void set_options(const ServiceOptions& options);
  void set_paused(bool is_paused);  // rebuild and scrub
  bool is_paused() const noexcept { return is_paused_; }
  std::uint64_t rebuilt_in_second() const noexcept { return rebuild_pace_.measured(); }

 private:
  Service() = default;
  void guard_members();
  void find_unused();
  bool is_read_only() const noexcept { return overlay_ != nullptr; }
  Result<std::unique_ptr<array::Array>> open_for_writing();
  Result<std::unique_ptr<array::Array>> open_read_only();
  void stop();
  void wake();
  void say(const Event& event) const;
  void take_back(unsigned role);
  Status check_writable() const;
  Status check_replaceable(const std::string& path, unsigned role) const;
  Result<unsigned> place_of(const std::string& path, unsigned role, bool is_forced);
  void keep_lease();
  void watch_for_writers();
  bool is_member(unsigned role, unsigned place);
  void measure_members();
  void look_after();
  void look_at_members();
  std::string file_loss(unsigned place);
  void look_at_file(const array::MemberStatus& member);
  void look_at_successor(const array::MemberStatus& member);
  void tell_replaced(const array::ArrayStatus& before);
  void take_back_returned(bool is_any_opened);
  void checkpoint_if_idle();
  void checkpoint();
  void tell_lost();
  void load_scrubs();
  void restart_scrub();
  void begin_scrub_if_due();
  bool note_scrubbed(const ScrubProgress& step, std::uint64_t number);  // needs mutex_
  // Each returns when it has more to do.
  Pace::Clock::time_point rebuild_some(Pace::Clock::time_point now);
  Pace::Clock::time_point scrub_some(Pace::Clock::time_point now);

  std::shared_ptr<array::FileMembers> members_;
  std::unique_ptr<array::DeadlineMembers> deadlines_;  // over members_; all requests pass it
  std::unique_ptr<array::OverlayMembers> overlay_;     // over deadlines_, if read-only
  std::unique_ptr<array::OwnLease> lease_;             // if writable
  std::uint64_t epoch_ = 0;                            // read-only: epoch at opening
  std::uint64_t seen_lease_ = 0;                       // read-only: lease at opening
  std::unique_ptr<array::Array> array_;
  std::vector<UnusedPath> unused_;  // at opening
  Say say_;
  std::unique_ptr<HookRunner> hook_;
  std::mutex status_mutex_;  // guards last_status_; its holder takes no other lock
  array::ArrayStatus last_status_;
  std::mutex change_mutex_;     // one change of members at a time; taken before mutex_
  std::set<unsigned> removed_;  // places of removed spares, which are not opened again
  mutable std::mutex mutex_;    // guards the following members
  std::condition_variable changed_;
  ServiceOptions options_;
  ScrubHistory scrubs_;
  bool is_scrubbing_ = false;
  std::uint64_t scrubs_begun_ = 0;
  std::int64_t no_scrub_since_ = 0;  // Unix time when a scrub failed or was stopped
  std::string why_no_scrub_ = {};
  Pace::Clock::time_point next_rebuild_ = {};
  Pace::Clock::time_point next_scrub_ = {};
  bool is_ending_ = false;
  bool is_woken_ = false;
  std::atomic<bool> is_paused_ = false;
  // Used by the upkeep thread only.
  std::uint64_t returned_ = 0;  // bit set of places that answer again
  Pace::Clock::time_point returned_until_ = {};
  std::set<unsigned> told_out_;   // members reported as out
  std::set<unsigned> told_lost_;  // members reported as deleted but still in use
  std::uint64_t told_blocks_lost_ = 0;
  Pace::Clock::time_point last_durable_progress_ = {};  // of a rebuild or a copy
  Pace rebuild_pace_;
  Pace scrub_pace_;
  std::uint64_t commits_seen_ = 0;
  Pace::Clock::time_point idle_since_ = {};
  std::thread thread_;
  std::thread lease_thread_;
};

}  // namespace calpe::array
