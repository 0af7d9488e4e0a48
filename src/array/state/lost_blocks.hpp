// SPDX-License-Identifier: Apache-2.0
// Blocks of data that could not be decoded since the array was opened, by offset in the array.
// They are not stored: a scrub finds them again.
//
// Locks: its own.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>

#include "array/format/types.hpp"

namespace calpe::array {

class LostBlocks {
 public:
  struct Summary {
    std::uint64_t count = 0;
    std::uint64_t first = 0;  // offset, if count is not 0
  };

  void add(std::uint64_t offset) {
    const std::lock_guard lock(mutex_);
    if (offsets_.size() < count_max) offsets_.insert(offset);
    is_any_ = true;
  }
  // The blocks of the range were written, or could be read.
  void remove(std::uint64_t offset, std::uint64_t bytes) noexcept {
    if (!is_any_) return;
    const std::lock_guard lock(mutex_);
    offsets_.erase(offsets_.lower_bound(offset / block_bytes * block_bytes),
                   offsets_.lower_bound(offset + bytes));
    is_any_ = !offsets_.empty();
  }
  void take_from(const LostBlocks& other) {
    const std::lock_guard lock(mutex_);
    const std::lock_guard lock_other(other.mutex_);
    offsets_ = other.offsets_;
    is_any_ = !offsets_.empty();
  }
  bool is_any() const noexcept { return is_any_; }
  Summary summary() const noexcept {
    const std::lock_guard lock(mutex_);
    if (offsets_.empty()) return {};
    return {offsets_.size(), *offsets_.begin()};
  }

 private:
  static constexpr std::size_t count_max = std::size_t{1} << 20U;  // limits the memory

  mutable std::mutex mutex_;
  std::set<std::uint64_t> offsets_;
  std::atomic<bool> is_any_ = false;
};

}  // namespace calpe::array
