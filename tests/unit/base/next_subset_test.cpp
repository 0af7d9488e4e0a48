// SPDX-License-Identifier: Apache-2.0
#include "base/next_subset.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace calpe {
namespace {

TEST(NextSubset, visits_each_once_in_order) {
  std::vector<std::uint16_t> subset = {0, 1, 2};
  std::vector<std::uint16_t> before;
  unsigned count = 0;
  do {
    EXPECT_TRUE(std::ranges::is_sorted(subset));
    // Not EXPECT_LT: operator< of vectors in libstdc++ 12 is wrong on big-endian processors. It
    // passes the number of elements to memcmp as the number of bytes.
    EXPECT_TRUE(std::ranges::lexicographical_compare(before, subset));
    before = subset;
    ++count;
    ASSERT_LE(count, 20U);
  } while (next_subset(std::span(subset), 6));
  EXPECT_EQ(count, 20U);
  EXPECT_EQ(subset, (std::vector<std::uint16_t>{3, 4, 5}));
  EXPECT_FALSE(next_subset(std::span<std::uint16_t>(), 6)) << "the empty one is alone";
}

// The preceding element must not be read as part of the subset.
TEST(NextSubset, ignores_elements_before_the_subset) {
  std::array<std::size_t, 4> memory = {9, 1, 2, 3};
  const auto before = memory;
  EXPECT_FALSE(next_subset(std::span(memory).subspan(2), 4));
  EXPECT_EQ(memory, before);
}

}  // namespace
}  // namespace calpe
