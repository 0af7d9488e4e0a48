// SPDX-License-Identifier: Apache-2.0
// A shard in its own mapping, with an inaccessible page before and after it.
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

#include <calpe/codec.hpp>

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
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        usable_((usable_bytes + page_ - 1) / page_ * page_) {
    void* mapped =
        mmap(nullptr, usable_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    begin_ = static_cast<std::byte*>(mapped) + page_;
    protect(PROT_READ | PROT_WRITE);
  }
  ~GuardedShard() { munmap(begin_ - page_, usable_ + 2 * page_); }
  GuardedShard(const GuardedShard&) = delete;
  GuardedShard& operator=(const GuardedShard&) = delete;

  void allow_writes(bool allowed) { protect(allowed ? PROT_READ | PROT_WRITE : PROT_READ); }

  Shard place(const Placement& placement, std::size_t bytes) const {
    if (placement.guard == Guard::leading) return {begin_ + placement.gap, bytes};
    return {begin_ + usable_ - placement.gap - bytes, bytes};
  }
  Shard all() const { return {begin_, usable_}; }

 private:
  void protect(int protection) {
    if (mprotect(begin_, usable_, protection) != 0) std::abort();
  }
  std::size_t page_;
  std::size_t usable_;
  std::byte* begin_ = nullptr;
};

}  // namespace calpe::tests
