// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/wide_scratch.hpp"

#include <mutex>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/divide_up.hpp"

namespace calpe::backend::cpu {

namespace {

constexpr std::size_t buffers_max = 16;
// Strided passes touch a page per cell. Pages of 2 MiB keep them in the TLB.
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
constexpr std::size_t huge_page_use_min = huge_page_bytes / 4;
constexpr std::size_t small_step_bytes = std::size_t{64} << 10;

}  // namespace

void WideScratchPool::Lease::Release::operator()(std::byte* memory) const noexcept {
  ::operator delete (memory, std::align_val_t{huge_page_bytes});
}

WideScratchPool::Lease::~Lease() {
  if (buffer_.memory != nullptr) pool_.give_back(std::move(buffer_));
}

WideScratchPool::WideScratchPool() {
  free_.reserve(buffers_max);
}

WideScratchPool::Lease WideScratchPool::take(std::size_t bytes) {
  Lease::Buffer buffer;
  {
    const std::lock_guard lock(mutex_);
    // The smallest that is large enough, so that large ones stay for large runs.
    auto best = free_.end();
    for (auto kept = free_.begin(); kept != free_.end(); ++kept) {
      if (kept->bytes >= bytes && (best == free_.end() || kept->bytes < best->bytes)) best = kept;
    }
    if (best != free_.end()) {
      std::swap(*best, free_.back());
      buffer = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (buffer.memory == nullptr) {
    const bool is_huge = bytes >= huge_page_use_min;
    buffer.bytes = round_up(bytes, is_huge ? huge_page_bytes : small_step_bytes);
    buffer.memory.reset(
        static_cast<std::byte*>(::operator new (buffer.bytes, std::align_val_t{huge_page_bytes})));
#if defined(MADV_HUGEPAGE)
    if (is_huge)
      madvise(buffer.memory.get(), buffer.bytes, MADV_HUGEPAGE);  // only speed depends on it
#endif
  }
  return {*this, std::move(buffer)};
}

// Buffers beyond the limit are released, after the lock.
void WideScratchPool::give_back(Lease::Buffer buffer) noexcept {
  const std::lock_guard lock(mutex_);
  if (free_.size() < buffers_max) free_.push_back(std::move(buffer));
}

}  // namespace calpe::backend::cpu
