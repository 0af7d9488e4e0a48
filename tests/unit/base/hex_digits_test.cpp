// SPDX-License-Identifier: Apache-2.0
#include "base/hex_digits.hpp"

#include <array>
#include <gtest/gtest.h>

namespace calpe {
namespace {

using Bytes = std::array<std::byte, 3>;
constexpr Bytes some = {std::byte{0x00}, std::byte{0x9a}, std::byte{0xfe}};

TEST(HexDigits, AreTwoForEachByte) {
  EXPECT_EQ(hex_digits(some), "009afe");
  EXPECT_EQ(hex_digits({}), "");
}

TEST(HexDigits, OfANumberBeginWithTheHighest) {
  EXPECT_EQ(hex_number(0), "0000000000000000");
  EXPECT_EQ(hex_number(0x0123456789abcdefU), "0123456789abcdef");
  EXPECT_EQ(hex_number(~std::uint64_t{0}), "ffffffffffffffff");
}

TEST(HexDigits, OfEitherCaseAreRead) {
  for (const char* const digits : {"009afe", "009AFE", "009aFe"}) {
    Bytes bytes = {std::byte{1}, std::byte{2}, std::byte{3}};
    EXPECT_TRUE(parse_hex_digits(digits, bytes)) << digits;
    EXPECT_EQ(bytes, some) << digits;
  }
}

TEST(HexDigits, OfAnotherLengthOrWithAnotherCharacterAreRefused) {
  for (const char* const digits :
       {"", "009af", "009afe0", "009afg", " 09afe", "0-9afe", "009a@e"}) {
    Bytes bytes = {};
    EXPECT_FALSE(parse_hex_digits(digits, bytes)) << digits;
  }
}

}  // namespace
}  // namespace calpe
