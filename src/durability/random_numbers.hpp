// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine. The standard specifies its engines, but not
// its distributions.
#pragma once
#include <cmath>
#include <cstdint>
#include <random>

namespace calpe::durability {

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : engine_(seed) {}
  double unit() { return double(engine_() >> 11) * 0x1p-53; }  // [0, 1)
  double exponential() { return -std::log1p(-unit()); }        // mean 1

 private:
  std::mt19937_64 engine_;
};

}  // namespace calpe::durability
