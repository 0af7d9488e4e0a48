// SPDX-License-Identifier: Apache-2.0
#include "reram/bit_lanes.hpp"

#include <cstring>

#include "base/assert.hpp"
#include "base/little_endian.hpp"

namespace calpe::reram {

namespace {

// memcpy needs a valid address even for 0 bytes.
void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

// Transposes: bit c of byte r becomes bit r of byte c, in three rounds that swap 1, 2 and 4 bits.
std::uint64_t transpose_8x8(std::uint64_t x) noexcept {
  const auto swap = [&x](unsigned distance, std::uint64_t mask) {
    const std::uint64_t differing = (x ^ (x >> distance)) & mask;
    x ^= differing ^ (differing << distance);
  };
  swap(7, 0x00AA00AA00AA00AA);
  swap(14, 0x0000CCCC0000CCCC);
  swap(28, 0x00000000F0F0F0F0);
  return x;
}

}  // namespace

std::uint64_t load_lanes(std::span<const std::byte> bytes) noexcept {
  CALPE_ASSERT(bytes.size() <= sizeof(std::uint64_t));
  std::uint64_t lanes = 0;
  copy_bytes(&lanes, bytes.data(), bytes.size());
  return swap_unless_little(lanes);
}

void store_lanes(std::uint64_t lanes, std::span<std::byte> bytes) noexcept {
  CALPE_ASSERT(bytes.size() <= sizeof(lanes));
  const LittleU64 stored = lanes;
  copy_bytes(bytes.data(), &stored, bytes.size());
}

BytePlanes load_planes(std::span<const std::byte> bytes) noexcept {
  CALPE_ASSERT(bytes.size() <= 64);
  std::array<LittleU64, 8> words = {};
  copy_bytes(words.data(), bytes.data(), bytes.size());
  BytePlanes planes = {};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t eight = transpose_8x8(words[i]);  // byte b: bit b of bytes 8i..8i+7
    for (std::size_t b = 0; b < planes.size(); ++b)
      planes[b] |= (eight >> (8 * b) & 0xFF) << (8 * i);
  }
  return planes;
}

void store_planes(const BytePlanes& planes, std::span<std::byte> bytes) noexcept {
  CALPE_ASSERT(bytes.size() <= 64);
  std::array<LittleU64, 8> words = {};
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint64_t eight = 0;
    for (std::size_t b = 0; b < planes.size(); ++b)
      eight |= (planes[b] >> (8 * i) & 0xFF) << (8 * b);
    words[i] = transpose_8x8(eight);
  }
  copy_bytes(bytes.data(), words.data(), bytes.size());
}

}  // namespace calpe::reram
