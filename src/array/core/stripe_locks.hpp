// SPDX-License-Identifier: Apache-2.0
// Exclusive locks of any stripes, in any order.
//
// Locks: those of stripes. They are only tried, so that their order does not matter: the caller
// does a stripe whose lock is taken later, when it holds no other.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "array/state/stripes.hpp"

namespace calpe::array {

class StripeLocks {
 public:
  explicit StripeLocks(Stripes& stripes) : stripes_(stripes) {}
  ~StripeLocks() { unlock(); }
  StripeLocks(const StripeLocks&) = delete;
  StripeLocks& operator=(const StripeLocks&) = delete;

  // Returns whether the stripe is locked now. Stripes that share a lock share it here, too.
  bool try_lock(std::uint64_t stripe) noexcept {
    bool& is_held = is_held_[stripe % stripe_locks];
    if (!is_held) is_held = stripes_.lock_of(stripe).try_lock();
    return is_held;
  }
  void unlock() noexcept {
    for (std::size_t i = 0; i < is_held_.size(); ++i) {
      if (is_held_[i]) stripes_.lock_of(i).unlock();
      is_held_[i] = false;
    }
  }

 private:
  Stripes& stripes_;
  std::array<bool, stripe_locks> is_held_ = {};
};

}  // namespace calpe::array
