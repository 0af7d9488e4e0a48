// SPDX-License-Identifier: Apache-2.0
// A ring of io_uring for each thread: nobody waits for anybody, and what a thread hands to the
// kernel has ended before it goes on. Only where CALPE_HAS_URING is 1.
#pragma once
#include <cerrno>
#include <cstddef>
#include <liburing.h>

#include "base/assert.hpp"

namespace calpe::store {

class UringRing {
 public:
  static constexpr unsigned entries = 64;

  UringRing() : error_(io_uring_queue_init(entries, &ring_, 0)) {}
  ~UringRing() {
    if (error_ == 0) io_uring_queue_exit(&ring_);
  }
  UringRing(const UringRing&) = delete;
  UringRing& operator=(const UringRing&) = delete;

  int error() const noexcept { return error_; }  // 0, or negative as the kernel has it

  // Calls prepare(entry, i) and afterwards finish(i, result) for every i below count.
  template <class Prepare, class Finish>
  void run(std::size_t count, const Prepare& prepare, const Finish& finish) {
    std::size_t begun = 0;
    std::size_t ended = 0;
    while (ended < count) {
      while (begun < count && begun - ended < entries) {
        io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
        if (entry == nullptr) break;
        prepare(entry, begun);
        io_uring_sqe_set_data64(entry, begun++);
      }
      // Where nothing is to be added, for all: a thread woken by each has nothing to do with it.
      const std::size_t awaited = begun < count ? 1 : begun - ended;
      const int taken = io_uring_submit_and_wait(&ring_, static_cast<unsigned>(awaited));
      // Interrupted or out of memory for a moment: what was not taken is still in the queue. The
      // kernel has our memory, so whatever else it may say cannot be gone on from.
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
  }

 private:
  io_uring ring_ = {};
  int error_;
};

inline UringRing& uring_of_this_thread() {
  thread_local UringRing ring;
  return ring;
}

}  // namespace calpe::store
