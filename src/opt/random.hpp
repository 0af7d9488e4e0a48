// SPDX-License-Identifier: Apache-2.0
// Random choices that are the same for a seed on every machine and standard library.
#pragma once
#include <cstdint>

namespace calpe::opt {

// splitmix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  // limit >= 1. Not exactly uniform, which is good enough for a search.
  std::uint32_t below(std::uint32_t limit) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * limit) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace calpe::opt
