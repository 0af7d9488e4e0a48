// SPDX-License-Identifier: Apache-2.0
#include "base/threads.hpp"

#include <csignal>
#include <exception>
#include <pthread.h>
#include <utility>
#include <vector>

namespace calpe {

namespace {

// Blocks signals for as long as it lives. A new thread inherits the mask, so no signal can reach it
// before it runs.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    // Faults of the thread itself, and the timer of profilers.
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
      sigdelset(&blocked, signal);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_ = {};
};

}  // namespace

std::thread start_thread(const char* name, std::function<void()> work) {
  const SignalsBlocked blocked;
  std::thread thread(std::move(work));
#ifdef __linux__
  pthread_setname_np(thread.native_handle(), name);
#else
  static_cast<void>(name);
#endif
  return thread;
}

void run_side_by_side(std::size_t parts, const std::function<void(std::size_t part)>& work) {
  if (parts == 0) return;
  std::vector<std::thread> helpers;
  std::size_t next = 1;
  try {
    helpers.reserve(parts - 1);
    for (; next < parts; ++next) {
      helpers.push_back(start_thread("calpe-helper", [&work, next] { work(next); }));
    }
  } catch (const std::exception&) {  // no more threads or memory: the caller does the rest
  }
  work(0);
  for (; next < parts; ++next)
    work(next);
  for (std::thread& helper : helpers)
    helper.join();
}

}  // namespace calpe
