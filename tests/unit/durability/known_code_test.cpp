// SPDX-License-Identifier: Apache-2.0
#include "durability/known_code.hpp"

#include <gtest/gtest.h>

namespace calpe::durability {
namespace {

TEST(KnownCode, ParsesUserNotation) {
  const auto plain = parse_code("10+4");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->data, 10U);
  EXPECT_EQ(plain->parity, 4U);
  EXPECT_EQ(name_of(*plain), "10+4");
  const auto named = parse_code("cauchy:6+3");
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(name_of(*named), "cauchy 6+3");
  const auto local = parse_code("lrc:12+2+2");
  ASSERT_TRUE(local) << local.error().message;
  EXPECT_EQ(local->parity, 4U);
  EXPECT_EQ(local->groups, 2U);
  EXPECT_EQ(name_of(*local), "lrc 12+2+2");
}

TEST(KnownCode, RefusesInvalidCodes) {
  for (const char* const text : {"", "10", "10+", "0+4", "10+4+2", "lrc:12+4", "10+x", "10 + 4"}) {
    const auto code = parse_code(text);
    ASSERT_FALSE(code) << text;
    EXPECT_NE(code.error().message.find(text), std::string::npos) << code.error().message;
  }
}

TEST(KnownCode, AnMdsCodeReadsAllDataForARebuild) {
  const auto known = know_code({.data = 10, .parity = 4});
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->scheme.sure_losses(), 4U);
  EXPECT_EQ(known->scheme.single_reads, 10);
}

TEST(KnownCode, TriesEveryPatternOfAnLrc) {
  const auto known = know_code({.profile = "lrc", .data = 12, .parity = 4, .groups = 2});
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->scheme.sure_losses(), 3U);
  EXPECT_GT(known->scheme.dead_fraction(4), 0);
  EXPECT_LT(known->scheme.dead_fraction(4), 1);
  EXPECT_LT(known->scheme.single_reads, 12);
}

TEST(KnownCode, RefusesUnprovenCodes) {
  const auto known = know_code({.profile = "vandermonde-isal", .data = 10, .parity = 5});
  ASSERT_FALSE(known);
  EXPECT_EQ(known.error().code, ErrorCode::unproven);
  const auto large = know_code({.data = 250, .parity = 10});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace calpe::durability
