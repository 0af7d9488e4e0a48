// SPDX-License-Identifier: Apache-2.0
// A thread that compiles in the background, started by the first request. Driver compilers run in
// this process and cannot be stopped, so the destructor waits for the current one.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace calpe::backend::gpu {

class Builder {
 public:
  Builder() = default;
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder() { stop(); }

  using Job = std::function<void()>;  // must not throw
  // Returns false if no thread can be started; the job is then dropped.
  bool request(Job job);
  // Waits until all requested jobs are done.
  void wait_idle();
  // Drops jobs that have not begun and ends the thread; a later request starts it again. Call it
  // from the thread that ends a device: the last owner of what a job holds must not be destroyed on
  // the builder's thread.
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool is_busy_ = false;
  bool is_stopping_ = false;
  std::thread thread_;
  std::mutex thread_mutex_;  // guards thread_, before mutex_
};

}  // namespace calpe::backend::gpu
