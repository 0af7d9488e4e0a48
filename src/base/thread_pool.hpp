// SPDX-License-Identifier: Apache-2.0
// A fixed set of threads that help the caller with independent parts of a job. After fork() the
// child has no such threads; the caller's thread then does all parts.
#pragma once
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

 private:
  using Call = void (*)(const void* context, std::size_t part);
  struct Job {  // on the caller's stack until no thread works on it
    std::size_t parts = 0;
    std::size_t next = 0;
    std::size_t busy = 0;
    const void* context = nullptr;
    Call call = nullptr;
    Job* following = nullptr;
  };

  void run_job(std::size_t parts, const void* context, Call call);
  void help();
  bool work_on(Job& job, std::unique_lock<std::mutex>& lock);
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
  Job* jobs_ = nullptr;  // with parts not yet taken
  bool stopping_ = false;
  std::vector<std::thread>& threads_ = shared_->threads;
};

}  // namespace calpe
