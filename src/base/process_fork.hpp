// SPDX-License-Identifier: Apache-2.0
// Support for the library in a child of fork(). The child has only the thread that called fork(). A
// lock held by another thread would stay locked, and threads started by objects are gone.
//
// - ForkMutex is for short sections that never wait for a caller or a driver. fork() waits until no
//   thread is inside one, so in the child all of them are free and their data is consistent.
// - ProcessMark tells an object that it was inherited. Its threads, drivers and programs belong to
//   the parent: it works without them or refuses, and destroys none of them.
//
// The handlers are registered when the library is loaded; the C library removes them when it is
// unloaded. A child of vfork() or posix_spawn() only starts another program and needs none of this.
#pragma once
#include <atomic>
#include <mutex>

namespace calpe {

namespace process_fork {
extern constinit std::atomic<unsigned> generation;  // number of forks since the first process
}

// Is told about every fork() while it exists. Must not be created or destroyed while a ForkMutex is
// held: fork() holds the list and waits for the mutexes.
class ForkListener {
 public:
  ForkListener(const ForkListener&) = delete;
  ForkListener& operator=(const ForkListener&) = delete;

 protected:
  ForkListener() = default;
  ~ForkListener() = default;
  // Call first and last in a listener's life. Not done in the constructor and destructor of this
  // class, where the virtual functions below are not yet, or no longer, the listener's.
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

// A thread that holds it takes no other lock, runs no code of the caller or of a driver, and
// creates or destroys no ForkMutex. So fork() can take all of them in any order.
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

// Remembers the process that created an object.
class ProcessMark {
 public:
  bool is_inherited() const noexcept {
    return made_in_ != process_fork::generation.load(std::memory_order_relaxed);
  }

 private:
  unsigned made_in_ = process_fork::generation.load(std::memory_order_relaxed);
};

// Remembers the first process that used something a child cannot use, such as a driver.
class ProcessClaim {
 public:
  // Returns false if an earlier process was the first.
  bool is_ours() noexcept {
    const unsigned here = process_fork::generation.load(std::memory_order_relaxed) + 1;
    unsigned first = 0;
    return first_.compare_exchange_strong(first, here) || first == here;
  }

 private:
  std::atomic<unsigned> first_ = 0;  // generation + 1; 0: none
};

}  // namespace calpe
