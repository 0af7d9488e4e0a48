// SPDX-License-Identifier: Apache-2.0
// One page-aligned memory block, optionally on huge pages.
#pragma once
#include <cstddef>
#include <span>
#include <utility>

#include <calpe/result.hpp>

namespace calpe::bench {

enum class Pages {
  huge,   // if the system grants them
  small,  // always 4 KiB
  usual,  // what the system gives without advice
};

// Owns the mapping. Huge pages keep TLB misses out of the results: a stripe of 40 shards of 1 MiB
// has more 4 KiB pages than the TLB has entries.
class Arena {
 public:
  // Zero-filled, every page touched. Fails with out_of_memory.
  static Result<Arena> create(std::size_t bytes, Pages pages = Pages::huge);

  Arena(Arena&& other) noexcept
      : mapping_(std::exchange(other.mapping_, {})), bytes_(std::exchange(other.bytes_, {})) {}
  Arena& operator=(Arena&& other) noexcept {
    std::swap(mapping_, other.mapping_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Arena();

  std::span<std::byte> bytes() const noexcept { return bytes_; }  // aligned to 2 MiB

 private:
  explicit Arena(std::span<std::byte> mapping) : mapping_(mapping) {}
  std::span<std::byte> mapping_;
  std::span<std::byte> bytes_;
};

}  // namespace calpe::bench
