// SPDX-License-Identifier: Apache-2.0
// Stripe ranges as shown in error messages.
#include "store/format/stripe_ranges.hpp"

#include <gtest/gtest.h>

namespace calpe::store {
namespace {

StripeRanges make(const std::vector<std::uint64_t>& stripes) {
  StripeRanges ranges;
  for (const std::uint64_t stripe : stripes) {
    ranges.add(stripe);
  }
  return ranges;
}

TEST(StripeRanges, Words) {
  EXPECT_EQ(to_text(make({3})), "stripe 3");
  EXPECT_EQ(to_text(make({3, 4})), "stripes 3, 4");
  EXPECT_EQ(to_text(make({3, 17, 18, 19, 20, 21})), "stripes 3, 17 .. 21");
  EXPECT_EQ(to_text(make({0, 1, 2, 9})), "stripes 0 .. 2, 9");
}

TEST(StripeRanges, LongListsAreCut) {
  StripeRanges ranges;
  for (std::uint64_t stripe = 0; stripe < 2000; stripe += 2) {
    ranges.add(stripe);
  }
  EXPECT_EQ(ranges.count(), 1000U);
  EXPECT_EQ(to_text(ranges),
            "stripes 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38 and "
            "980 more");
}

TEST(StripeRanges, AdjacentRunsAreMerged) {
  StripeRanges ranges;
  ranges.add_run({.first_stripe = 5, .stripe_count = 0});
  EXPECT_TRUE(ranges.is_empty());
  ranges.add_run({.first_stripe = 5, .stripe_count = 3});
  ranges.add(8);
  ranges.add_run({.first_stripe = 10, .stripe_count = 1});
  EXPECT_EQ(ranges.runs(), (std::vector<StripeRun>{{5, 4}, {10, 1}}));
}

}  // namespace
}  // namespace calpe::store
