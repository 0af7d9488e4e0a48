// SPDX-License-Identifier: Apache-2.0
// The work of one submit() on the threads of a pool.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/thread_pool.hpp"
#include "engine/run/executor.hpp"

namespace calpe::engine {

class PoolWork {
 public:
  // `executor` has no pool of its own. The kernel and the device must outlive this object.
  PoolWork(std::shared_ptr<ThreadPool> pool, const Executor& executor, const Task& task)
      : pool_(std::move(pool)), executor_(executor), task_(task) {}
  PoolWork(const PoolWork&) = delete;
  PoolWork& operator=(const PoolWork&) = delete;
  ~PoolWork();  // waits

  // Adds stripes of one length. The lists of pointers must not change until wait() returned.
  void add(std::size_t stripe_count, const StripePointers& first) {
    executor_.split_equal(task_, stripe_count, first, pool_->helpers() + 1, parts_);
  }

  // Starts the work on the pool. Does not allocate.
  void start();

  // Waits for it and returns the first failure. In a child of fork(), does on the calling thread
  // what the parent's threads had not done. Outputs that they were writing are written again; with
  // accumulate that is impossible, and the call fails with device_failed.
  Status wait();

 private:
  // The first failure. Apart, because a child of fork() may find it half written.
  struct Failure {
    std::atomic<bool> is_set = false;
    Status status = Done{};
  };
  void run(std::size_t part) const;
  Status run_again();

  std::shared_ptr<ThreadPool> pool_;
  Executor executor_;
  Task task_;
  std::vector<Executor::Part> parts_;
  std::unique_ptr<Failure> failure_ = std::make_unique<Failure>();
  std::optional<ThreadPool::Job> job_;  // started, and not yet waited for
  Status result_ = Done{};
};

}  // namespace calpe::engine
