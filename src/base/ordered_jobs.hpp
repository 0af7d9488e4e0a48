// SPDX-License-Identifier: Apache-2.0
// Numbered jobs on several threads: taken in order, worked on side by side, delivered in order.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>

#include <calpe/result.hpp>

namespace calpe {

// One worker does a whole job on its thread: take(), work(), deliver(). It holds one job at a time,
// so its memory is bounded. Every job in progress has a worker, and the first of them never waits
// for another one. So any number of threads makes progress, also one.
class OrderedJobs {
 public:
  OrderedJobs(const OrderedJobs&) = delete;
  OrderedJobs& operator=(const OrderedJobs&) = delete;

  // Runs all jobs; call it once. Worker 0 is the calling thread. Other threads start only if job 0
  // is not the last. Returns the error of the first job, in order, that failed, or rethrows its
  // exception; bad_alloc becomes out_of_memory. All jobs before it were delivered, none after it.
  Status run(std::size_t workers);

 protected:
  enum class Taken : std::uint8_t { none, one, last };

  OrderedJobs() = default;
  ~OrderedJobs() = default;
  // True once a job has failed to be delivered: its error is the result, and take() may give up.
  bool is_stopped() const noexcept { return is_stopped_; }

 private:
  struct Job {
    std::uint64_t number = 0;
    Status status = Done{};
    std::exception_ptr thrown = {};  // instead of the status' error
  };

  // One call at a time, with ascending numbers. Not called again after `none`, `last` or a failure.
  virtual Result<Taken> take(std::size_t worker, std::uint64_t number) = 0;
  // Any number of calls at a time.
  virtual Status work(std::size_t worker) = 0;
  // One call at a time, in the order of the numbers.
  virtual Status deliver(std::size_t worker) = 0;

  std::optional<Job> take_next(std::size_t worker) noexcept;
  bool complete(std::size_t worker, Job& job) noexcept;

  std::mutex take_mutex_;  // held while take() runs; guards the next two
  std::uint64_t next_to_take_ = 0;
  bool is_ended_ = false;

  std::mutex turn_mutex_;  // guards the rest; is_stopped_ is also read without it
  std::condition_variable turn_;
  std::uint64_t next_to_deliver_ = 0;
  std::atomic<bool> is_stopped_ = false;
  std::optional<Job> failed_;
};

}  // namespace calpe
