// SPDX-License-Identifier: Apache-2.0
#include "base/little_endian.hpp"

#include <array>
#include <gtest/gtest.h>
#include <span>

namespace calpe {
namespace {

using Bytes = std::array<std::byte, 9>;

// Uses an odd address.
template <class T>
Bytes stored(const T& value) {
  Bytes bytes = {};
  store_little(bytes.data() + 1, value);
  return bytes;
}

Bytes bytes_of(std::initializer_list<unsigned> values) {
  Bytes bytes = {};
  std::size_t at = 1;
  for (const unsigned value : values)
    bytes[at++] = static_cast<std::byte>(value);
  return bytes;
}

TEST(LittleEndian, NumbersOfEverySizeBeginWithTheirLowestByte) {
  EXPECT_EQ(stored(std::uint8_t{0x12}), bytes_of({0x12}));
  EXPECT_EQ(stored(std::uint16_t{0x1234}), bytes_of({0x34, 0x12}));
  EXPECT_EQ(stored(std::uint32_t{0x12345678}), bytes_of({0x78, 0x56, 0x34, 0x12}));
  EXPECT_EQ(stored(std::uint64_t{0x0102030405060708}), bytes_of({8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(stored(std::int64_t{-2}), bytes_of({0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}));
  enum class Kind : std::uint16_t { some = 0x0102 };
  EXPECT_EQ(stored(Kind::some), bytes_of({2, 1}));
}

TEST(LittleEndian, StoredNumbersAreLoaded) {
  const auto is_loaded = [](auto value) {
    return load_little<decltype(value)>(stored(value).data() + 1) == value;
  };
  EXPECT_TRUE(is_loaded(std::uint8_t{200}));
  EXPECT_TRUE(is_loaded(std::uint16_t{60000}));
  EXPECT_TRUE(is_loaded(std::uint32_t{0xFEDCBA98}));
  EXPECT_TRUE(is_loaded(std::uint64_t{0xFEDCBA9876543210}));
  EXPECT_TRUE(is_loaded(std::int32_t{-123456}));
  EXPECT_TRUE(is_loaded(std::int64_t{-1234567890123}));
}

TEST(LittleEndian, BytesKeepTheirOrder) {
  const std::array<std::byte, 3> some = {std::byte{1}, std::byte{2}, std::byte{3}};
  EXPECT_EQ(stored(some), bytes_of({1, 2, 3}));
  EXPECT_EQ((load_little<std::array<std::byte, 3>>(stored(some).data() + 1)), some);
}

TEST(LittleEndian, ArraysAreInFileOrder) {
  const std::array<LittleU64, 2> words = {1, 0x0102030405060708};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(words));
  ASSERT_EQ(bytes.size(), 16U);
  EXPECT_EQ(bytes[0], std::byte{1});
  EXPECT_EQ(bytes[7], std::byte{0});
  EXPECT_EQ(bytes[8], std::byte{8});
  EXPECT_EQ(bytes[15], std::byte{1});
  EXPECT_EQ(words[1] + 1, 0x0102030405060709U);
}

}  // namespace
}  // namespace calpe
