// SPDX-License-Identifier: Apache-2.0
// A shared mutex that cannot starve its exclusive owner: while the owner waits, new writers queue.
//
// There are two: calls of Array pass one, and writers the other. The rest is about that of writers.
//
// Locks: writers take it before the lock of their stripe. The owner takes it before the commit lock
// of the log, and takes no lock of a stripe while holding it.
#pragma once
#include <atomic>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace calpe::array {

class WriteGate {
 public:
  std::shared_lock<std::shared_mutex> pass() {
    if (is_closing_.load(std::memory_order_acquire)) {
      const std::lock_guard wait(queue_);
    }
    return std::shared_lock(passing_);
  }

  // Returns nullopt if the gate is closed.
  std::optional<std::shared_lock<std::shared_mutex>> try_pass() {
    if (is_closing_.load(std::memory_order_acquire)) return std::nullopt;
    std::shared_lock passed(passing_, std::try_to_lock);
    if (!passed) return std::nullopt;
    return passed;
  }

  class Closed {
   public:
    explicit Closed(WriteGate& gate) : gate_(gate), queue_(gate.queue_) {
      gate_.is_closing_.store(true, std::memory_order_release);
      gate_.passing_.lock();
    }
    ~Closed() {
      gate_.is_closing_.store(false, std::memory_order_release);
      gate_.passing_.unlock();
    }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    WriteGate& gate_;
    std::unique_lock<std::mutex> queue_;
  };

 private:
  std::atomic<bool> is_closing_ = false;
  std::mutex queue_;
  std::shared_mutex passing_;
};

}  // namespace calpe::array
