// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/builder.hpp"

#include <system_error>
#include <utility>

#include "base/threads.hpp"

namespace calpe::backend::gpu {

void Builder::stop() {
  const std::lock_guard thread_lock(thread_mutex_);
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    jobs_.clear();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  thread_ = {};
  is_stopping_ = false;
}

bool Builder::request(Job job) {
  const std::lock_guard thread_lock(thread_mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = start_thread("calpe-builder", [this] { work(); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
  return true;
}

void Builder::wait_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty() && !is_busy_; });
}

void Builder::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopping_ || !jobs_.empty(); });
    if (is_stopping_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    is_busy_ = true;
    lock.unlock();
    job();
    job = nullptr;  // may be slow to destroy, or be the last owner
    lock.lock();
    is_busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace calpe::backend::gpu
