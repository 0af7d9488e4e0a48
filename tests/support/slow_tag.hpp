// SPDX-License-Identifier: Apache-2.0
// Tags by their definition (docs/tags.md), byte by byte.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "gf/field.hpp"

namespace calpe::tests {

using Tag = std::array<std::byte, 8>;

// z^512 * polynomial mod z^8 + z^4 + z^3 + z^2 + c; the first byte has the highest power.
inline Tag slow_remainder(const gf::Field& field, gf::Element c, std::vector<std::byte> bytes) {
  bytes.resize(bytes.size() + 512);
  Tag rest = {};
  for (const std::byte next : bytes) {
    const std::byte top = rest[0];
    std::shift_left(rest.begin(), rest.end(), 1);
    const auto product = field.multiply(c, static_cast<gf::Element>(top));
    rest[7] = next ^ static_cast<std::byte>(product);
    for (const std::size_t place : {3U, 4U, 5U})
      rest[place] ^= top;
  }
  return rest;
}

inline Tag slow_tag(const gf::Field& field, gf::Element c, std::span<const std::byte> shard) {
  std::vector<std::byte> digests;
  while (!shard.empty()) {
    const auto segment = shard.first(std::min<std::size_t>(shard.size(), 480 * 64));
    shard = shard.subspan(segment.size());
    const std::size_t digits = (segment.size() + 63) / 64;
    // 15 digits of zeros come before the first.
    std::vector<std::byte> q((15 + digits) * 64);
    std::copy(segment.begin(), segment.end(), q.begin() + 15 * 64);
    for (std::size_t i = 15 * 64; i < q.size(); ++i)
      q[i] ^= q[i - 14 * 64] ^ q[i - 15 * 64];
    digests.insert(digests.end(), q.end() - 15 * 64, q.end());
  }
  return slow_remainder(field, c, digests);
}

}  // namespace calpe::tests
