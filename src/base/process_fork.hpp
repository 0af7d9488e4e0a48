// SPDX-License-Identifier: Apache-2.0
// The library in a child of fork(). The child has one thread, the one that called fork(): a lock
// that another thread held would stay locked in it, and threads that an object started are gone.
//
// - ForkMutex is for short sections that never wait for a caller or a driver. fork() waits until no
//   thread is inside one, so the child finds all of them free and what they guard whole.
// - ProcessMark tells an object that it was inherited. Threads, drivers and programs that it
//   started belong to the parent: it works without them or refuses, and destroys none of them.
//
// The handlers are registered when the library is loaded; the C library removes them when it is
// unloaded. A child of vfork() or posix_spawn() only starts another program and needs none of this.
#pragma once
#include <atomic>
#include <mutex>

namespace calpe {

namespace process_fork {
extern constinit std::atomic<unsigned> generation;  // forks between the first process and this one
}

// Told about every fork() while it exists. Neither made nor destroyed while a ForkMutex is held:
// fork() holds the list and waits for the mutexes.
class ForkListener {
 public:
  ForkListener(const ForkListener&) = delete;
  ForkListener& operator=(const ForkListener&) = delete;

 protected:
  ForkListener() = default;
  ~ForkListener() = default;
  // First and last of a listener's life. Not in the constructor and destructor of this class: there
  // the functions below are not yet, or no longer, those of the listener.
  void attach() noexcept;
  void detach() noexcept;

 private:
  friend struct ForkListeners;
  virtual void before_fork() noexcept = 0;
  virtual void after_in_parent() noexcept = 0;
  virtual void after_in_child() noexcept = 0;  // on the child's only thread

  ForkListener* before_ = nullptr;
  ForkListener* next_ = nullptr;
};

// While it is held, a thread takes no other lock, runs no code of the caller or of a driver, and
// makes or destroys no ForkMutex. So fork() may take all of them in any order.
class ForkMutex final : private ForkListener {
 public:
  ForkMutex() noexcept { attach(); }
  ~ForkMutex() { detach(); }
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void before_fork() noexcept override { mutex_.lock(); }
  void after_in_parent() noexcept override { mutex_.unlock(); }
  void after_in_child() noexcept override { mutex_.unlock(); }

  std::mutex mutex_;
};

// The process that made an object.
class ProcessMark {
 public:
  bool is_inherited() const noexcept {
    return made_in_ != process_fork::generation.load(std::memory_order_relaxed);
  }

 private:
  unsigned made_in_ = process_fork::generation.load(std::memory_order_relaxed);
};

// The first process that used something that no child can use after it, such as a driver.
class ProcessClaim {
 public:
  // False when a process before this one was the first.
  bool is_ours() noexcept {
    const unsigned here = process_fork::generation.load(std::memory_order_relaxed) + 1;
    unsigned first = 0;
    return first_.compare_exchange_strong(first, here) || first == here;
  }

 private:
  std::atomic<unsigned> first_ = 0;  // generation + 1; 0: none
};

}  // namespace calpe
