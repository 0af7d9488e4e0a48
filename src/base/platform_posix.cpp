// SPDX-License-Identifier: Apache-2.0
// Linux. The guards are for macOS, which is not tested.
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#include "base/platform.hpp"

#if defined(__linux__)
#include <sys/auxv.h>
#endif

namespace calpe::platform {

namespace {

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

const char* variable(const char* name) noexcept {
#if defined(__linux__)
  return secure_getenv(name);
#else
  return is_privileged() ? nullptr : std::getenv(name);
#endif
}

bool is_privileged() noexcept {
#if defined(__linux__)
  return getauxval(AT_SECURE) != 0;
#else
  return issetugid() != 0;
#endif
}

std::size_t level2_cache_bytes() noexcept {
#if defined(_SC_LEVEL2_CACHE_SIZE)
  if (const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0) return static_cast<std::size_t>(l2);
#endif
  return 0;
}

void with_signals_blocked(const std::function<void()>& start) {
  const SignalsBlocked blocked;
  start();
}

void name_thread(std::thread& thread, const char* name) noexcept {
#if defined(__linux__)
  pthread_setname_np(thread.native_handle(), name);
#else  // macOS can only name the calling thread
  static_cast<void>(thread);
  static_cast<void>(name);
#endif
}

}  // namespace calpe::platform
