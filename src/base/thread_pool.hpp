// SPDX-License-Identifier: Apache-2.0
// A fixed set of threads that help the caller with independent parts of a job, or do them in the
// background. After fork() the child has no such threads; the caller's thread then does all parts.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <calpe/result.hpp>

#include "base/process_fork.hpp"

namespace calpe {

class ThreadPool {
 public:
  // helpers: threads in addition to the caller's. Throws std::system_error if they cannot be
  // started.
  explicit ThreadPool(unsigned helpers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t helpers() const noexcept { return mark_.is_inherited() ? 0 : threads_.size(); }

  // Calls work(part) for every part in [0, parts), on the caller's and the helpers' threads, and
  // returns when all are done. Several callers may use the pool at once. Does not allocate. `work`
  // must not throw.
  template <class Work>
  void run(std::size_t parts, const Work& work) {
    run_job(parts, &work, [](const void* context, std::size_t part) {
      (*static_cast<const Work*>(context))(part);
    });
  }

  // A job in the background: call(context, part) for every part in [0, parts). `call` must not
  // throw.
  using Call = void (*)(const void* context, std::size_t part);
  class Job {
   public:
    Job(std::size_t parts, const void* context, Call call) noexcept
        : parts_(parts), context_(context), call_(call) {}
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

   private:
    friend class ThreadPool;
    const std::size_t parts_;
    const void* const context_;
    const Call call_;
    // Only a child of fork() reads these two without the lock, so that their order matters.
    std::atomic<std::size_t> next_ = 0;  // parts taken
    std::atomic<std::size_t> busy_ = 0;  // threads at work on them
    Job* before_ = nullptr;
    Job* after_ = nullptr;
  };

  // Leaves a job to the helpers. It must not be destroyed before wait() returned. Jobs start in
  // order; those of run() go first. Does not allocate.
  void start(Job& job);

  // Returns when all parts of a started job are done; the caller's thread helps. In a child of
  // fork(), the caller's thread does the parts that no thread of the parent had begun, unless some
  // were begun but not done: then it returns false and does nothing.
  bool wait(Job& job);

 private:
  void run_job(std::size_t parts, const void* context, Call call);
  void help();
  bool work_on(Job& job, std::unique_lock<std::mutex>& lock);
  void complete(Job& job, std::unique_lock<std::mutex>& lock);
  void remove(Job& job);

  const ProcessMark mark_;
  // Parts that a child of fork() must not destroy: threads that are gone and their conditions.
  struct Shared {
    std::mutex mutex;
    std::condition_variable wake;
    std::condition_variable done;
    std::vector<std::thread> threads;
  };
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
  std::mutex& mutex_ = shared_->mutex;  // guards everything below, jobs included
  std::condition_variable& wake_ = shared_->wake;
  std::condition_variable& done_ = shared_->done;
  Job* first_ = nullptr;  // a list of the jobs with parts not yet taken
  Job* last_ = nullptr;
  bool stopping_ = false;
  std::vector<std::thread>& threads_ = shared_->threads;
};

}  // namespace calpe
