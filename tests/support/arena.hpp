// SPDX-License-Identifier: Apache-2.0
// Shards at any address, with canaries before and after each. Reused between cases, because fresh
// pages would cost more than the coding.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

namespace calpe::tests {

class Arena {
 public:
  explicit Arena(std::size_t capacity) : capacity_(capacity), memory_(new std::byte[capacity]) {}

  void reset() {
    used_ = 0;
    shards_.clear();
  }

  // `misalignment` bytes after a multiple of 64.
  Shard take(std::size_t bytes, std::size_t misalignment = 0) {
    const std::size_t start = (used_ + canary_bytes + 63) / 64 * 64 + misalignment % 64;
    const std::size_t end = start + bytes + canary_bytes;
    if (end > capacity_) throw std::length_error("arena is too small");
    used_ = end;
    std::memset(memory_.get() + start - canary_bytes, canary, canary_bytes);
    std::memset(memory_.get() + start + bytes, canary, canary_bytes);
    shards_.push_back({memory_.get() + start, bytes});
    return shards_.back();
  }

  Shard copy(ConstShard from, std::size_t misalignment = 0) {
    const Shard to = take(from.size(), misalignment);
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
    return to;
  }

  // True if nothing was written outside the shards.
  bool intact() const {
    const auto untouched = [](std::byte b) { return b == std::byte{canary}; };
    return std::ranges::all_of(shards_, [&](const Shard& shard) {
      return std::all_of(shard.data() - canary_bytes, shard.data(), untouched) &&
             std::all_of(shard.data() + shard.size(), shard.data() + shard.size() + canary_bytes,
                         untouched);
    });
  }

 private:
  static constexpr std::size_t canary_bytes = 64;  // the widest vector
  static constexpr unsigned char canary = 0xC3;
  std::size_t capacity_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t used_ = 0;
  std::vector<Shard> shards_;
};

inline bool equal_bytes(ConstShard a, ConstShard b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace calpe::tests
