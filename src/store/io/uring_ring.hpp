// SPDX-License-Identifier: Apache-2.0
// One io_uring ring per thread, so that threads never wait for each other. A thread waits for all
// transfers it submits. Requires CALPE_HAS_URING to be 1.
#pragma once
#include <cerrno>
#include <cstddef>
#include <liburing.h>
#include <type_traits>

#include "base/assert.hpp"

namespace calpe::store {

class UringRing {
 public:
  static constexpr unsigned entries = 64;

  UringRing() : error_(init()) {}
  ~UringRing() {
    if (error_ == 0) io_uring_queue_exit(&ring_);
  }
  UringRing(const UringRing&) = delete;
  UringRing& operator=(const UringRing&) = delete;

  int error() const noexcept { return error_; }  // 0 or a negative errno

  // Calls prepare(entry, i), then finish(i, result), for every i below count. One system call if
  // the entries suffice.
  template <class Prepare, class Finish>
  void run(std::size_t count, const Prepare& prepare, const Finish& finish) {
    run(count, prepare, finish, Nothing());
  }
  // The same; calls meanwhile() once, while the first transfers run. It must not throw.
  template <class Prepare, class Finish, class Meanwhile>
  void run(std::size_t count, const Prepare& prepare, const Finish& finish,
           const Meanwhile& meanwhile) {
    bool is_meanwhile_done = std::is_same_v<Meanwhile, Nothing>;
    std::size_t begun = 0;
    std::size_t ended = 0;
    while (ended < count) {
      while (begun < count && begun - ended < entries) {
        io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
        if (entry == nullptr) break;
        prepare(entry, begun);
        io_uring_sqe_set_data64(entry, begun++);
      }
      if (!is_meanwhile_done) {
        io_uring_submit(&ring_);  // what it does not take is submitted below
        meanwhile();
        is_meanwhile_done = true;
      }
      // With nothing left to submit, wait for all: there is nothing to do after each one.
      const std::size_t awaited = begun < count ? 1 : begun - ended;
      const int taken = io_uring_submit_and_wait(&ring_, static_cast<unsigned>(awaited));
      // Interrupted or briefly out of memory: unsubmitted entries are still queued. Any other error
      // is fatal, because the kernel still uses our buffers.
      CALPE_ASSERT(taken >= 0 || taken == -EINTR || taken == -EAGAIN || taken == -EBUSY);
      io_uring_cqe* done = nullptr;
      while (io_uring_peek_cqe(&ring_, &done) == 0) {
        const auto index = static_cast<std::size_t>(done->user_data);
        const int result = done->res;
        io_uring_cqe_seen(&ring_, done);
        ++ended;
        finish(index, result);
      }
    }
    if (!is_meanwhile_done) meanwhile();
  }

 private:
  struct Nothing {
    void operator()() const {}
  };

  int init() {
#if defined(IORING_SETUP_DEFER_TASKRUN) && defined(IORING_SETUP_SINGLE_ISSUER)
    // The thread wakes up once, when all transfers that it waits for are done, and not for each.
    constexpr unsigned flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    const int error = io_uring_queue_init(entries, &ring_, flags);
    if (error != -EINVAL) return error;  // before Linux 6.1
#endif
    return io_uring_queue_init(entries, &ring_, 0);
  }

  io_uring ring_ = {};
  int error_;
};

inline UringRing& uring_of_this_thread() {
  thread_local UringRing ring;
  return ring;
}

}  // namespace calpe::store
