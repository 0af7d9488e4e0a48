// SPDX-License-Identifier: Apache-2.0
// One thread that compiles beside the work, started by the first request. Compilers of drivers run
// in this process and cannot be stopped: ending the builder waits for the one under way.
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
  // False when no thread can be had: nothing will come of the job.
  bool request(Job job);
  // Until all that was requested is done.
  void wait_idle();
  // Drops what has not begun and ends the thread; a later request starts it again. Who ends a
  // device calls it on his own thread: the last of what a job holds must not go on the builder's.
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
