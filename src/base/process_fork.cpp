// SPDX-License-Identifier: Apache-2.0
#include "base/process_fork.hpp"

#include <pthread.h>

namespace calpe {

namespace process_fork {
constinit std::atomic<unsigned> generation = 0;
}

struct ForkListeners {
  std::mutex mutex;  // held from before fork() until after it
  ForkListener* first = nullptr;

  void add(ForkListener& listener) noexcept {
    const std::lock_guard lock(mutex);
    listener.next_ = first;
    if (first != nullptr) first->before_ = &listener;
    first = &listener;
  }

  void remove(ForkListener& listener) noexcept {
    const std::lock_guard lock(mutex);
    (listener.before_ != nullptr ? listener.before_->next_ : first) = listener.next_;
    if (listener.next_ != nullptr) listener.next_->before_ = listener.before_;
  }

  static void before_fork() noexcept;
  static void after_in_parent() noexcept;
  static void after_in_child() noexcept;
};

namespace {

constinit ForkListeners listeners;

// Registers at load, before any thread can be inside the library. If this fails for lack of memory,
// fork() works as for a library without handlers.
[[gnu::constructor]] void register_handlers() {
  static_cast<void>(pthread_atfork(&ForkListeners::before_fork, &ForkListeners::after_in_parent,
                                   &ForkListeners::after_in_child));
}

}  // namespace

void ForkListeners::before_fork() noexcept {
  listeners.mutex.lock();
  for (ForkListener* each = listeners.first; each != nullptr; each = each->next_)
    each->before_fork();
}

void ForkListeners::after_in_parent() noexcept {
  for (ForkListener* each = listeners.first; each != nullptr; each = each->next_)
    each->after_in_parent();
  listeners.mutex.unlock();
}

void ForkListeners::after_in_child() noexcept {
  process_fork::generation.fetch_add(1, std::memory_order_relaxed);
  for (ForkListener* each = listeners.first; each != nullptr; each = each->next_)
    each->after_in_child();
  listeners.mutex.unlock();
}

void ForkListener::attach() noexcept {
  listeners.add(*this);
}

void ForkListener::detach() noexcept {
  listeners.remove(*this);
}

}  // namespace calpe
