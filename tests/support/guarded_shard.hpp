// SPDX-License-Identifier: Apache-2.0
// A shard in its own mapping, with an inaccessible page before and after it.
#pragma once
#include <cstddef>

#include <calpe/codec.hpp>

#include "support/guarded_pages.hpp"

namespace calpe::tests {

// The guard page that the shard touches.
enum class Guard { leading, trailing };

// `gap` bytes separate the shard from the guard.
struct Placement {
  Guard guard = Guard::trailing;
  std::size_t gap = 0;
};

class GuardedShard {
 public:
  explicit GuardedShard(std::size_t usable_bytes)
      : page_(pages::page_bytes()),
        usable_((usable_bytes + page_ - 1) / page_ * page_),
        begin_(pages::reserve(usable_ + 2 * page_) + page_) {
    allow_writes(true);
  }
  ~GuardedShard() { pages::release(begin_ - page_, usable_ + 2 * page_); }
  GuardedShard(const GuardedShard&) = delete;
  GuardedShard& operator=(const GuardedShard&) = delete;

  void allow_writes(bool allowed) { pages::allow(begin_, usable_, allowed); }

  Shard place(const Placement& placement, std::size_t bytes) const {
    if (placement.guard == Guard::leading) return {begin_ + placement.gap, bytes};
    return {begin_ + usable_ - placement.gap - bytes, bytes};
  }
  Shard all() const { return {begin_, usable_}; }

 private:
  std::size_t page_;
  std::size_t usable_;
  std::byte* begin_;
};

}  // namespace calpe::tests
