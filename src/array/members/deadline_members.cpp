// SPDX-License-Identifier: Apache-2.0
#include "array/members/deadline_members.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <new>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/threads.hpp"

namespace calpe::array {

namespace {

constexpr std::size_t buffer_alignment = 4096;  // for O_DIRECT
constexpr unsigned threads_most = 16;           // of a place
// The deadline is counted in this many waits, so that a pause of this process (a suspended virtual
// machine) counts as one of them, and not as a member that hangs.
constexpr unsigned ticks_most = 16;

std::uint64_t bit(unsigned place) {
  return std::uint64_t{1} << place;
}

}  // namespace

struct DeadlineMembers::Job {
  std::vector<MemberRequest> requests = {};  // on `bytes`
  std::unique_ptr<std::byte, void (*)(void*)> bytes{nullptr, std::free};
  std::function<void()> work = {};  // instead of requests
  // Guarded by the lock of the lane.
  bool is_done = false;
  bool is_given_up = false;
};

struct DeadlineMembers::Lane {
  std::mutex mutex;
  std::condition_variable has_work;
  std::condition_variable has_ended;  // a job or a thread
  std::deque<std::shared_ptr<Job>> queue;
  unsigned threads = 0;
  unsigned idle = 0;
  unsigned given_up = 0;  // jobs that still run or wait
  bool is_ending = false;
  unsigned place = 0;
  std::shared_ptr<Hung> hung;
};

DeadlineMembers::DeadlineMembers(std::shared_ptr<Members> inner, std::chrono::milliseconds deadline,
                                 IsGuarded is_guarded)
    : inner_(std::move(inner)),
      deadline_(deadline),
      is_guarded_(std::move(is_guarded)),
      process_(::getpid()),
      hung_(std::make_shared<Hung>()) {
  for (unsigned place = 0; place < lanes_.size(); ++place) {
    lanes_[place] = std::make_shared<Lane>();
    lanes_[place]->place = place;
    lanes_[place]->hung = hung_;
  }
}

DeadlineMembers::~DeadlineMembers() {
  before_fork();
}

void DeadlineMembers::before_fork() {
  for (const std::shared_ptr<Lane>& lane : lanes_) {
    std::unique_lock lock(lane->mutex);
    lane->is_ending = true;
    lane->has_work.notify_all();
    // A thread that does not answer ends by itself.
    lane->has_ended.wait(lock, [&] { return lane->threads == 0 || lane->given_up != 0; });
    if (lane->threads == 0) lane->is_ending = false;
  }
}

void DeadlineMembers::after_fork() {
  if (::getpid() == process_) {
    for (const std::shared_ptr<Lane>& lane : lanes_) {
      const std::lock_guard lock(lane->mutex);
      lane->is_ending = false;
    }
    return;
  }
  process_ = ::getpid();
  // The threads of hung places do not exist here, so their jobs never end. Their locks may be held.
  for (unsigned place = 0; place < lanes_.size(); ++place) {
    if ((hung_->places & bit(place)) == 0) continue;
    auto lane = std::make_shared<Lane>();
    lane->place = place;
    lane->hung = hung_;
    lane->given_up = 1;
    std::shared_ptr<Lane>* const leaked = new std::shared_ptr<Lane>(lanes_[place]);
    static_cast<void>(leaked);
    lanes_[place] = std::move(lane);
  }
}

bool DeadlineMembers::is_guarded(unsigned place) const {
  return place < lanes_.size() && is_guarded_(place);
}

void DeadlineMembers::set_can_do_without(CanDoWithout can_do_without) {
  const std::lock_guard lock(mutex_);
  can_do_without_ = std::move(can_do_without);
}

Error DeadlineMembers::hung_error(unsigned place) const {
  return make_error(ErrorCode::io, inner_->name(place), " did not answer for ",
                    text(deadline_.count() / 1000, ".", deadline_.count() % 1000 / 100), " s");
}

// --- threads ---

void DeadlineMembers::work_on(const std::shared_ptr<Lane>& lane,
                              const std::shared_ptr<Members>& inner) {
  std::unique_lock lock(lane->mutex);
  while (true) {
    ++lane->idle;
    lane->has_work.wait(lock, [&] { return !lane->queue.empty() || lane->is_ending; });
    --lane->idle;
    if (lane->queue.empty()) break;
    const std::shared_ptr<Job> job = std::move(lane->queue.front());
    lane->queue.pop_front();
    if (!job->is_given_up) {
      lock.unlock();
      try {
        if (job->work) {
          job->work();
        } else {
          inner->run(job->requests);
        }
      } catch (const std::exception&) {
        for (MemberRequest& request : job->requests)
          request.error = Error{ErrorCode::out_of_memory, "out of memory"};
      }
      lock.lock();
    }
    job->is_done = true;
    if (job->is_given_up && --lane->given_up == 0) {
      // All late writes have ended: the member may be used again.
      lane->hung->returned |= bit(lane->place);
      lane->hung->places &= ~bit(lane->place);
    }
    lane->has_ended.notify_all();
  }
  --lane->threads;
  lane->has_ended.notify_all();
}

void DeadlineMembers::submit(unsigned place, const std::shared_ptr<Job>& job) {
  const std::shared_ptr<Lane>& lane = lanes_[place];
  const std::lock_guard lock(lane->mutex);
  lane->queue.push_back(job);
  if (lane->idle < lane->queue.size() && lane->threads < threads_most) {
    try {
      start_thread("calpe-member", [lane, inner = inner_] { work_on(lane, inner); }).detach();
      ++lane->threads;
    } catch (const std::system_error&) {
      // The threads that exist do it, or the deadline passes.
    }
  }
  lane->has_work.notify_one();
}

// --- requests ---

std::shared_ptr<DeadlineMembers::Job> DeadlineMembers::make_job(std::span<MemberRequest> batch,
                                                                unsigned place) const {
  auto job = std::make_shared<Job>();
  std::size_t bytes = 0;
  for (const MemberRequest& request : batch) {
    if (request.member == place) bytes += request.bytes.size();
  }
  if (bytes != 0) {
    const std::size_t room = (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
    job->bytes.reset(static_cast<std::byte*>(std::aligned_alloc(buffer_alignment, room)));
    if (!job->bytes) throw std::bad_alloc();
  }
  std::byte* next = job->bytes.get();
  for (const MemberRequest& request : batch) {
    if (request.member != place) continue;
    MemberRequest own = request;
    own.bytes = {next, request.bytes.size()};
    next += request.bytes.size();
    if (request.call == MemberCall::write && !request.bytes.empty())
      std::memcpy(own.bytes.data(), request.bytes.data(), request.bytes.size());
    job->requests.push_back(std::move(own));
  }
  return job;
}

// Holds the lock of the lane. Returns false if the array needs the member.
bool DeadlineMembers::give_up(unsigned place, Job& job) {
  const std::uint64_t without = hung_->places | bit(place);
  if (can_do_without_ && !can_do_without_(without)) return false;
  job.is_given_up = true;
  ++lanes_[place]->given_up;
  hung_->places |= bit(place);
  return true;
}

// Returns false if the job was given up. Waits for several places share the ticks.
bool DeadlineMembers::wait(unsigned place, const std::shared_ptr<Job>& job, unsigned& ticks) {
  Lane& lane = *lanes_[place];
  const std::chrono::microseconds tick =
      std::max(std::chrono::microseconds(deadline_) / ticks_most, std::chrono::microseconds(100));
  while (true) {
    {
      std::unique_lock lock(lane.mutex);
      if (lane.has_ended.wait_for(lock, tick, [&] { return job->is_done; })) return true;
    }
    ++ticks;
    const bool is_hung = (hung_->places & bit(place)) != 0;
    if (ticks < ticks_most && !is_hung) continue;
    const std::lock_guard one_at_a_time(mutex_);
    const std::lock_guard lock(lane.mutex);
    if (job->is_done) return true;
    if (give_up(place, *job)) return false;
  }
}

void DeadlineMembers::run_with(std::span<MemberRequest> batch, const std::function<void()>& work) {
  const bool is_any_guarded = std::any_of(batch.begin(), batch.end(),
                                          [&](const auto& one) { return is_guarded(one.member); });
  if (!is_any_guarded) return inner_->run_with(batch, work);
  run(batch);
  work();
}

void DeadlineMembers::run(std::span<MemberRequest> batch) {
  std::uint64_t places = 0;
  for (const MemberRequest& request : batch) {
    if (is_guarded(request.member)) places |= bit(request.member);
  }
  if (places == 0) return inner_->run(batch);

  std::vector<std::pair<unsigned, std::shared_ptr<Job>>> jobs;
  for (unsigned place = 0; place < lanes_.size(); ++place) {
    if ((places & bit(place)) == 0) continue;
    if ((hung_->places & bit(place)) != 0) continue;
    jobs.emplace_back(place, make_job(batch, place));
  }
  for (const auto& [place, job] : jobs)
    submit(place, job);
  std::vector<MemberRequest> direct;
  for (const MemberRequest& request : batch) {
    const bool is_direct = request.member >= lanes_.size() || (places & bit(request.member)) == 0;
    if (is_direct) direct.push_back(request);
  }
  if (!direct.empty()) inner_->run(direct);

  std::uint64_t answered = 0;
  unsigned ticks = 0;
  for (const auto& [place, job] : jobs) {
    if (wait(place, job, ticks)) answered |= bit(place);
  }
  auto next_direct = direct.begin();
  std::array<std::size_t, members_most> next_of = {};
  for (MemberRequest& request : batch) {
    const unsigned place = request.member;
    if (place >= lanes_.size() || (places & bit(place)) == 0) {
      request.error = std::move((next_direct++)->error);
      continue;
    }
    if ((answered & bit(place)) == 0) {
      request.error = hung_error(place);
      continue;
    }
    const auto job =
        std::find_if(jobs.begin(), jobs.end(), [&](const auto& one) { return one.first == place; });
    MemberRequest& own = job->second->requests[next_of[place]++];
    request.error = std::move(own.error);
    if (request.call == MemberCall::read && !request.error && !request.bytes.empty())
      std::memcpy(request.bytes.data(), own.bytes.data(), own.bytes.size());
  }
}

bool DeadlineMembers::call(unsigned place, std::function<void()> work) {
  if (!is_guarded(place)) {
    work();
    return true;
  }
  if ((hung_->places & bit(place)) != 0) return false;
  auto job = std::make_shared<Job>();
  job->work = std::move(work);
  submit(place, job);
  unsigned ticks = 0;
  return wait(place, job, ticks);
}

}  // namespace calpe::array
