// SPDX-License-Identifier: Apache-2.0
// Free slots. They are taken in ring order, so that stripes written in sequence are stored in
// sequence.
//
// Locks: one mutex, taken last.
#pragma once
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#include "array/format/layout.hpp"

namespace calpe::array {

class FreeSlots {
 public:
  explicit FreeSlots(std::uint64_t slots) : is_free_(slots, 1), count_(slots) {}

  std::uint32_t take() {  // no_slot if none is free
    const std::lock_guard lock(mutex_);
    if (count_ == 0) return no_slot;
    const auto* found = static_cast<const std::uint8_t*>(
        std::memchr(is_free_.data() + next_, 1, is_free_.size() - next_));
    if (found == nullptr) {
      found = static_cast<const std::uint8_t*>(std::memchr(is_free_.data(), 1, next_));
    }
    next_ = static_cast<std::uint64_t>(found - is_free_.data());
    is_free_[next_] = 0;
    --count_;
    return static_cast<std::uint32_t>(next_);
  }
  // Takes this slot if it is free, and enough others are.
  bool try_take(std::uint64_t slot) {
    constexpr std::uint64_t left_least = 64;
    const std::lock_guard lock(mutex_);
    if (is_free_[slot] == 0 || count_ <= left_least) return false;
    is_free_[slot] = 0;
    --count_;
    return true;
  }
  void give(std::uint32_t slot) {
    const std::lock_guard lock(mutex_);
    if (is_free_[slot] == 0) ++count_;
    is_free_[slot] = 1;
  }
  void set_taken(std::uint32_t slot) {
    const std::lock_guard lock(mutex_);
    if (is_free_[slot] != 0) --count_;
    is_free_[slot] = 0;
  }
  std::uint64_t count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::uint8_t> is_free_;
  std::uint64_t count_;
  std::uint64_t next_ = 0;
};

}  // namespace calpe::array
