// SPDX-License-Identifier: Apache-2.0
// An array that is in use, and what looks after it beside its requests: checkpoints, spares,
// rebuild and scrub at a rate, members that come back.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "array/array.hpp"
#include "array/exclusive.hpp"
#include "array/members/file_members.hpp"
#include "array/members/overlay_members.hpp"
#include "array/service/pace.hpp"

namespace calpe::array {

struct ServiceOptions {
  std::uint64_t rebuild_rate = 0;  // bytes of a rebuilt member in a second; 0: no limit
  std::uint64_t scrub_rate = 0;    // bytes of capacity in a second; 0: no limit
  bool takes_spares = true;        // by itself, when a member is out
  // Nothing is written to the members: what a crash left is recovered in memory, and there is no
  // upkeep.
  bool is_read_only = false;
  std::uint32_t lease_milliseconds = array::lease_renewal_milliseconds;  // between renewals
};

// Of the scrub that runs, or of the last one.
struct ScrubState {
  bool is_running = false;
  std::uint64_t done = 0;  // bytes of capacity
  std::uint64_t all = 0;
  std::uint64_t found = 0;  // blocks that were wrong
  std::uint64_t repaired = 0;
  std::uint64_t columns_lost = 0;  // more than m wrong, or in contradiction
  std::uint64_t scrubs_ended = 0;
  std::string why = {};  // it ended before its end
};

// Thread-safe, but for open, start and close.
class Service {
 public:
  using Say = std::function<void(const std::string& line)>;  // what an operator should read

  // Opens the members, assembles and recovers. No threads yet.
  static Result<std::unique_ptr<Service>> open(std::vector<std::string> members,
                                               const ServiceOptions& options);
  ~Service();  // stops; without close() the next open() recovers
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  array::Array& array() noexcept { return *array_; }
  array::FileMembers& members() noexcept { return *members_; }

  void start(Say say);  // upkeep, on a thread of its own
  Status close();       // stops, checkpoints, and marks the array clean

  Status fail(unsigned role);
  // What is at `path` becomes the member: the member itself, come back, gets what was written
  // meanwhile; anything else is rebuilt from its start. Fails with invalid_argument when something
  // would be lost with what is there now (a file system, another array's member, a side of a split
  // brain), unless that is forced.
  Status replace(unsigned role, const std::string& path, bool is_forced = false);
  Status add_spare(const std::string& path, bool is_forced = false);
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
  bool is_read_only() const noexcept { return overlay_ != nullptr; }
  Result<std::unique_ptr<array::Array>> open_for_writing();
  Result<std::unique_ptr<array::Array>> open_read_only();
  void stop();
  void wake();
  void say(const std::string& line) const;
  void take_back(unsigned role);
  Status check_writable() const;
  Status check_replaceable(const std::string& path, unsigned role) const;
  Result<unsigned> place_of(const std::string& path, unsigned role, bool is_forced);
  void keep_lease();
  void watch_for_writers();
  bool is_member(unsigned role, unsigned place);
  void look_after();
  void look_at_members();
  void look_at_file(const array::MemberStatus& member);
  void checkpoint_if_due();
  // When there is more to do.
  Pace::Clock::time_point rebuild_some(Pace::Clock::time_point now);
  Pace::Clock::time_point scrub_some(Pace::Clock::time_point now);

  std::unique_ptr<array::FileMembers> members_;
  std::unique_ptr<array::OverlayMembers> overlay_;  // over members_, where it is read-only
  std::unique_ptr<array::OwnLease> lease_;          // where it is not
  std::uint64_t epoch_ = 0;                         // read-only: of the members, when opened
  std::uint64_t seen_lease_ = 0;                    // the same
  std::unique_ptr<array::Array> array_;
  Say say_;
  std::mutex change_mutex_;   // one change of members at a time; taken before mutex_
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  ServiceOptions options_;
  ScrubState scrub_;
  Pace::Clock::time_point next_rebuild_ = {};
  Pace::Clock::time_point next_scrub_ = {};
  bool is_ending_ = false;
  bool is_woken_ = false;
  std::atomic<bool> is_paused_ = false;
  // Of the thread.
  std::set<unsigned> told_out_;   // members that it was said of
  std::set<unsigned> told_lost_;  // the same, of files that are gone and still in use
  Pace rebuild_pace_;
  Pace scrub_pace_;
  std::uint64_t commits_seen_ = 0;
  Pace::Clock::time_point idle_since_ = {};
  std::thread thread_;
  std::thread lease_thread_;
};

}  // namespace calpe::array
