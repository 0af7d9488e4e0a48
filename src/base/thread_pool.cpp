// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.hpp"

#include <utility>

#include "base/leak_on_purpose.hpp"
#include "base/threads.hpp"

namespace calpe {

ThreadPool::ThreadPool(unsigned helpers) {
  threads_.reserve(helpers);
  try {
    for (unsigned i = 0; i < helpers; ++i)
      threads_.push_back(start_thread("calpe-pool", [this] { help(); }));
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
      thread.join();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  if (mark_.is_inherited()) {  // the parent's threads can be neither joined nor detached
    keep_for_good(std::move(shared_));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void ThreadPool::remove(Job& job) {
  for (Job** link = &jobs_; *link != nullptr; link = &(*link)->following) {
    if (*link == &job) {
      *link = job.following;
      return;
    }
  }
}

// Takes one part and runs it without the lock. Returns false if none was left.
bool ThreadPool::work_on(Job& job, std::unique_lock<std::mutex>& lock) {
  if (job.next == job.parts) return false;
  const std::size_t part = job.next++;
  ++job.busy;
  if (job.next == job.parts) remove(job);
  lock.unlock();
  job.call(job.context, part);
  lock.lock();
  if (--job.busy == 0 && job.next == job.parts) done_.notify_all();
  return true;
}

void ThreadPool::run_job(std::size_t parts, const void* context, Call call) {
  if (parts == 0) return;
  if (mark_.is_inherited()) {  // the lock and the jobs may be in any state
    for (std::size_t part = 0; part < parts; ++part)
      call(context, part);
    return;
  }
  Job job{
      .parts = parts, .next = 0, .busy = 0, .context = context, .call = call, .following = nullptr};
  std::unique_lock lock(mutex_);
  job.following = jobs_;
  jobs_ = &job;
  if (parts > 1) wake_.notify_all();
  while (work_on(job, lock)) {
  }
  done_.wait(lock, [&] { return job.busy == 0; });
}

void ThreadPool::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || jobs_ != nullptr; });
    if (jobs_ == nullptr) return;
    work_on(*jobs_, lock);
  }
}

}  // namespace calpe
