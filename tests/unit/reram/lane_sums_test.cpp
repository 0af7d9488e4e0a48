// SPDX-License-Identifier: Apache-2.0
#include "reram/lane_sums.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <random>

namespace calpe::reram {
namespace {

TEST(LaneSums, are_64_sums_of_bits) {
  std::mt19937_64 random(7);
  for (const unsigned density : {1U, 2U, 4U}) {  // of ones: 1/2, 3/4, 15/16
    LaneSums sums;
    std::array<std::uint64_t, 64> expected = {};
    const auto draw = [&] {
      std::uint64_t bits = 0;
      for (unsigned i = 0; i < density; ++i)
        bits |= random();
      for (std::size_t t = 0; t < expected.size(); ++t)
        expected[t] += bits >> t & 1;
      return bits;
    };
    for (int i = 0; i < 700; ++i) {
      if (i % 3 == 0) {
        sums.add(draw());
      } else {
        const std::uint64_t first = draw();
        sums.add(first, draw());
      }
      const std::uint64_t largest = std::ranges::max(expected);
      ASSERT_EQ(sums.largest(), largest);
      for (std::size_t t = 0; t < expected.size(); ++t) {
        ASSERT_EQ(sums.lowest_bits() >> t & 1, expected[t] & 1);
        for (const unsigned bits : {1U, 5U, 9U})
          ASSERT_EQ((sums.beyond(bits) >> t & 1) != 0, expected[t] >= 1U << bits);
      }
    }
  }
}

TEST(LaneSums, lanes_that_are_not_kept_are_zero) {
  LaneSums sums;
  for (int i = 0; i < 5; ++i)
    sums.add(i < 3 ? ~std::uint64_t{0} : 0xFF);  // 3, and 5 in the lowest eight
  sums.keep(~std::uint64_t{0xFF});
  EXPECT_EQ(sums.largest(), 3);
  EXPECT_EQ(sums.lowest_bits(), ~std::uint64_t{0xFF});
}

}  // namespace
}  // namespace calpe::reram
