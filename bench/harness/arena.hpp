// SPDX-License-Identifier: Apache-2.0
// One piece of page-aligned memory, on huge pages where wanted and granted.
#pragma once
#include <cstddef>
#include <span>
#include <utility>

#include <calpe/result.hpp>

namespace calpe::bench {

enum class Pages {
  huge,   // where the system grants them
  small,  // 4 KiB, whatever the system would do by itself
};

// Owns the mapping. Huge pages keep page walks out of the figures: a stripe of 40 shards of 1 MiB
// touches more 4 KiB pages than the TLB holds, for every contestant alike.
class Arena {
 public:
  // Zero bytes, every page touched. Fails with out_of_memory.
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
