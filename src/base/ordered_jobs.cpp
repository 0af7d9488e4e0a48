// SPDX-License-Identifier: Apache-2.0
#include "base/ordered_jobs.hpp"

#include <new>
#include <utility>

#include "base/allocation_guard.hpp"
#include "base/threads.hpp"

namespace calpe {

namespace {

// Keeps an exception for the thread that called run().
template <class Call>
auto tried(const Call& call, std::exception_ptr& thrown) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (...) {
    thrown = std::current_exception();
    return Error{ErrorCode::device_failed, {}};
  }
}

}  // namespace

std::optional<OrderedJobs::Job> OrderedJobs::take_next(std::size_t worker) noexcept {
  const std::scoped_lock lock(take_mutex_);
  if (is_ended_ || is_stopped_) return std::nullopt;
  Job job{.number = next_to_take_++};
  Result<Taken> taken = tried([&] { return take(worker, job.number); }, job.thrown);
  is_ended_ = !taken || *taken != Taken::one;
  if (!taken) {
    job.status = std::move(taken).error();
  } else if (*taken == Taken::none) {
    return std::nullopt;
  }
  return job;
}

// Returns false if no more jobs are to be done. A failed job waits for its turn, too, so that an
// earlier one can still fail, or be delivered.
bool OrderedJobs::complete(std::size_t worker, Job& job) noexcept {
  if (job.status) job.status = tried([&] { return work(worker); }, job.thrown);
  {
    std::unique_lock lock(turn_mutex_);
    turn_.wait(lock, [&] { return is_stopped_ || next_to_deliver_ == job.number; });
    if (is_stopped_) return false;
  }
  if (job.status) job.status = tried([&] { return deliver(worker); }, job.thrown);
  const bool is_delivered = job.status.has_value();
  {
    const std::scoped_lock lock(turn_mutex_);
    if (is_delivered) {
      ++next_to_deliver_;
    } else {
      failed_ = std::move(job);
      is_stopped_ = true;
    }
  }
  turn_.notify_all();
  return is_delivered;
}

Status OrderedJobs::run(std::size_t workers) {
  std::optional<Job> first = take_next(0);
  const auto work_as = [&](std::size_t worker) {
    std::optional<Job> job = worker == 0 ? std::move(first) : take_next(worker);
    while (job && complete(worker, *job))
      job = take_next(worker);
  };
  if (is_ended_) {
    work_as(0);
  } else {
    run_side_by_side(workers, work_as);
  }
  if (!failed_) return Done{};
  if (failed_->thrown) std::rethrow_exception(failed_->thrown);
  return std::move(failed_->status).error();
}

}  // namespace calpe
