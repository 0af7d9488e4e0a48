// SPDX-License-Identifier: Apache-2.0
// Members that may stop answering: a request that takes too long fails, and its member is hung
// until all requests that it still has have ended.
//
// The kernel cannot take a request back, so requests to guarded members run on threads of their own
// with their own buffers. A caller that gives up leaves both behind. A late write can only reach a
// member that has failed in the eyes of the array: as with any failed write, the array records on
// the others that the member is out before it acknowledges anything. The member cannot rejoin
// while it is hung, so a late write never overwrites newer bytes.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <sys/types.h>

#include "array/format/members.hpp"
#include "array/format/types.hpp"

namespace calpe::array {

// Thread-safe, except after_fork() and the destructor.
class DeadlineMembers final : public Members {
 public:
  using IsGuarded = std::function<bool(unsigned place)>;
  // True if the array works without the members at these places (bit set).
  using CanDoWithout = std::function<bool(std::uint64_t places)>;

  // Requests to places without guard are passed on as they are.
  DeadlineMembers(std::shared_ptr<Members> inner, std::chrono::milliseconds deadline,
                  IsGuarded is_guarded);
  // Waits for running requests, except those of hung members, which keep `inner` alive.
  ~DeadlineMembers() override;
  DeadlineMembers(const DeadlineMembers&) = delete;
  DeadlineMembers& operator=(const DeadlineMembers&) = delete;

  unsigned count() const override { return inner_->count(); }
  std::uint64_t bytes(unsigned member) const override { return inner_->bytes(member); }
  std::string name(unsigned member) const override { return inner_->name(member); }
  void run(std::span<MemberRequest> batch) override;
  void run_with(std::span<MemberRequest> batch, const std::function<void()>& work) override;
  // Runs a system call that may hang on the thread of a place. Returns false if it did not end in
  // time; `work` may still run then, so it must own what it uses.
  bool call(unsigned place, std::function<void()> work);

  // Without it, every member may be given up. With it, requests to a member that the array needs
  // wait as long as it takes.
  void set_can_do_without(CanDoWithout can_do_without);
  // Bit sets of places.
  std::uint64_t hung() const noexcept { return hung_->places; }
  std::uint64_t take_returned() noexcept { return hung_->returned.exchange(0); }

  // Ends the idle threads, which a fork would lose.
  void before_fork();
  // In the child, a place that was hung before stays so.
  void after_fork();

 private:
  struct Job;
  struct Lane;
  struct Hung {
    std::atomic<std::uint64_t> places = 0;
    std::atomic<std::uint64_t> returned = 0;
  };

  bool is_guarded(unsigned place) const;
  std::shared_ptr<Job> make_job(std::span<MemberRequest> batch, unsigned place) const;
  void submit(unsigned place, const std::shared_ptr<Job>& job);
  bool wait(unsigned place, const std::shared_ptr<Job>& job, unsigned& ticks);
  bool give_up(unsigned place, Job& job);
  Error hung_error(unsigned place) const;
  static void work_on(const std::shared_ptr<Lane>& lane, const std::shared_ptr<Members>& inner);

  std::shared_ptr<Members> inner_;
  std::chrono::milliseconds deadline_;
  IsGuarded is_guarded_;
  pid_t process_;
  std::mutex mutex_;  // one member is given up at a time; taken before the lock of a lane
  CanDoWithout can_do_without_;
  std::shared_ptr<Hung> hung_;
  std::array<std::shared_ptr<Lane>, members_most> lanes_;
};

}  // namespace calpe::array
