// SPDX-License-Identifier: Apache-2.0
// Scratch memory of transforms over GF(2^16), up to 34 MiB for a run: kept from run to run.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "base/process_fork.hpp"

namespace calpe::backend::cpu {

// Thread-safe. Keeps a few buffers, as many as threads usually run at once.
class WideScratchPool {
 public:
  // Memory for one run, aligned to a page. Back to the pool when destroyed.
  class Lease {
   public:
    Lease(Lease&&) noexcept = default;
    ~Lease();
    std::byte* data() const noexcept { return buffer_.memory.get(); }

   private:
    friend WideScratchPool;
    struct Release {
      void operator()(std::byte* memory) const noexcept;
    };
    struct Buffer {
      std::unique_ptr<std::byte, Release> memory;
      std::size_t bytes = 0;
    };
    Lease(WideScratchPool& pool, Buffer buffer) : pool_(pool), buffer_(std::move(buffer)) {}
    WideScratchPool& pool_;
    Buffer buffer_;
  };

  WideScratchPool();
  // Throws std::bad_alloc.
  Lease take(std::size_t bytes);

 private:
  void give_back(Lease::Buffer buffer) noexcept;

  ForkMutex mutex_;
  std::vector<Lease::Buffer> free_;
};

}  // namespace calpe::backend::cpu
