// SPDX-License-Identifier: Apache-2.0
#include "reram/bit_lanes.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "support/random_choice.hpp"

namespace calpe::reram {
namespace {

bool bit_of(std::byte byte, std::size_t bit) {
  return (std::to_integer<unsigned>(byte) >> bit & 1U) != 0;
}

TEST(BitLanes, bit_t_of_a_packet_belongs_to_vector_t_and_missing_bytes_are_zero) {
  for (std::size_t count = 0; count <= 8; ++count) {
    const std::vector<std::byte> bytes = conformance::random_bytes(count, count);
    const std::uint64_t lanes = load_lanes(bytes);
    for (std::size_t t = 0; t < 64; ++t)
      EXPECT_EQ((lanes >> t & 1) != 0, t / 8 < count && bit_of(bytes[t / 8], t % 8)) << t;
    std::vector<std::byte> back(count);
    store_lanes(lanes, back);
    EXPECT_EQ(back, bytes);
  }
}

TEST(BitLanes, byte_t_of_symbols_belongs_to_vector_t_and_its_bit_b_to_plane_b) {
  for (std::size_t count = 0; count <= 64; ++count) {
    const std::vector<std::byte> bytes = conformance::random_bytes(count, count);
    const BytePlanes planes = load_planes(bytes);
    for (std::size_t t = 0; t < 64; ++t) {
      for (std::size_t b = 0; b < 8; ++b)
        EXPECT_EQ((planes[b] >> t & 1) != 0, t < count && bit_of(bytes[t], b)) << t << " " << b;
    }
    std::vector<std::byte> back(count);
    store_planes(planes, back);
    EXPECT_EQ(back, bytes);
  }
}

}  // namespace
}  // namespace calpe::reram
