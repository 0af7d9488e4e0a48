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
  (job.before_ == nullptr ? first_ : job.before_->after_) = job.after_;
  (job.after_ == nullptr ? last_ : job.after_->before_) = job.before_;
}

// Takes one part and runs it without the lock. Returns false if none was left.
bool ThreadPool::work_on(Job& job, std::unique_lock<std::mutex>& lock) {
  const std::size_t part = job.next_;
  if (part == job.parts_) return false;
  ++job.busy_;  // before the part is taken, and until its bytes are written
  job.next_ = part + 1;
  if (part + 1 == job.parts_) remove(job);
  lock.unlock();
  job.call_(job.context_, part);
  lock.lock();
  if (--job.busy_ == 0 && job.next_ == job.parts_) done_.notify_all();
  return true;
}

void ThreadPool::complete(Job& job, std::unique_lock<std::mutex>& lock) {
  while (work_on(job, lock)) {
  }
  done_.wait(lock, [&] { return job.busy_ == 0; });
}

void ThreadPool::run_job(std::size_t parts, const void* context, Call call) {
  if (parts == 0) return;
  if (mark_.is_inherited()) {  // the lock and the jobs may be in any state
    for (std::size_t part = 0; part < parts; ++part)
      call(context, part);
    return;
  }
  Job job(parts, context, call);
  std::unique_lock lock(mutex_);
  job.after_ = first_;
  (first_ == nullptr ? last_ : first_->before_) = &job;
  first_ = &job;
  if (parts > 1) wake_.notify_all();
  complete(job, lock);
}

void ThreadPool::start(Job& job) {
  if (job.parts_ == 0 || mark_.is_inherited()) return;
  const std::lock_guard lock(mutex_);
  job.before_ = last_;
  (last_ == nullptr ? first_ : last_->after_) = &job;
  last_ = &job;
  wake_.notify_all();
}

bool ThreadPool::wait(Job& job) {
  if (mark_.is_inherited()) {
    if (job.busy_ != 0) return false;
    for (; job.next_ != job.parts_; ++job.next_)
      job.call_(job.context_, job.next_);
    return true;
  }
  std::unique_lock lock(mutex_);
  complete(job, lock);
  return true;
}

void ThreadPool::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || first_ != nullptr; });
    if (first_ == nullptr) return;
    work_on(*first_, lock);
  }
}

}  // namespace calpe
