// SPDX-License-Identifier: Apache-2.0
#include "gf/field.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace calpe::gf {
namespace {

// Independent of the tables: carry-less product, then long division by the polynomial.
Element divide_out(std::uint32_t a, std::uint32_t b, unsigned w, std::uint32_t polynomial) {
  std::uint64_t product = 0;
  for (unsigned i = 0; i < w; ++i) {
    if ((b >> i & 1) != 0) product ^= std::uint64_t{a} << i;
  }
  for (unsigned i = 2 * w; i-- > w;) {
    if ((product >> i & 1) != 0) product ^= std::uint64_t{polynomial} << (i - w);
  }
  return static_cast<Element>(product);
}

TEST(Field, ProductsUpToEightBitsMatchLongDivision) {
  for (unsigned w = 2; w <= 8; ++w) {
    const auto field = *Field::create(w, 0);
    for (std::uint32_t a = 0; a < field->size(); ++a) {
      for (std::uint32_t b = 0; b < field->size(); ++b) {
        ASSERT_EQ(field->multiply(Element(a), Element(b)), divide_out(a, b, w, field->polynomial()))
            << "w=" << w << " a=" << a << " b=" << b;
      }
    }
  }
}

// By the definition: pairs over GF(2^8) with u^2 = u + 0xE6.
TEST(Field, TowerMultipliesPairsOfBytes) {
  const auto bytes = *Field::create(8, 0);
  const auto tower = Field::tower();
  EXPECT_EQ(tower->word_bits(), 16U);
  EXPECT_EQ(tower->polynomial(), 0x11DU);
  EXPECT_EQ(tower->multiply(0x100, 0x100), 0x1E6);
  std::vector<bool> is_power(tower->size());
  for (std::uint32_t i = 0; i < tower->order(); ++i)
    is_power[tower->exp(i)] = true;
  EXPECT_EQ(std::ranges::count(is_power, true), 65535);
  for (std::uint32_t a = 0; a < tower->size(); ++a) {
    const std::uint32_t b = a * 40503 % 65536;
    const auto product = [&](std::uint32_t x, std::uint32_t y) {
      return std::uint32_t{bytes->multiply(Element(x), Element(y))};
    };
    const std::uint32_t u_squared = product(a >> 8, b >> 8);
    const std::uint32_t low = product(a & 255, b & 255) ^ product(u_squared, 0xE6);
    const std::uint32_t high = product(a & 255, b >> 8) ^ product(a >> 8, b & 255) ^ u_squared;
    ASSERT_EQ(tower->multiply(Element(a), Element(b)), low | high << 8) << a << " * " << b;
    if (a == 0) continue;
    ASSERT_EQ(tower->multiply(Element(a), tower->inverse(Element(a))), 1);
  }
}

TEST(Field, SixteenBitsFit) {
  const auto field = *Field::create(16, 0);
  EXPECT_EQ(field->polynomial(), 0x1100BU);
  for (std::uint32_t a = 1; a < field->size(); a += 257) {
    ASSERT_EQ(field->multiply(Element(a), field->inverse(Element(a))), 1);
    ASSERT_EQ(field->multiply(Element(a), 0x1234), divide_out(a, 0x1234, 16, 0x1100B));
  }
}

TEST(Field, InverseDivisionAndPowersAgree) {
  for (unsigned w = 2; w <= 8; ++w) {
    const auto field = *Field::create(w, 0);
    for (std::uint32_t a = 1; a < field->size(); ++a) {
      const auto e = Element(a);
      ASSERT_EQ(field->multiply(e, field->inverse(e)), 1);
      ASSERT_EQ(field->divide(1, e), field->inverse(e));
      ASSERT_EQ(field->power(e, 3), field->multiply(e, field->multiply(e, e)));
      ASSERT_EQ(field->power(e, field->order()), 1);
    }
    EXPECT_EQ(field->divide(0, 3), 0);
    EXPECT_EQ(field->power(0, 0), 1);
    EXPECT_EQ(field->power(0, 5), 0);
  }
}

TEST(Field, AcceptsPolynomialsWhoseRootIsNotAGenerator) {
  const auto field = *Field::create(8, 0x11B);  // AES
  EXPECT_EQ(field->multiply(0x57, 0x83), 0xC1);
  EXPECT_EQ(field->inverse(0x53), 0xCA);
}

TEST(Field, RefusesPolynomialsThatGiveNoField) {
  EXPECT_EQ(Field::create(1, 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(Field::create(17, 0).error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(Field::create(8, 0x1D));   // degree 4
  EXPECT_FALSE(Field::create(8, 0x21D));  // degree 9
  unsigned irreducible = 0;
  for (std::uint32_t p = 0x100; p < 0x200; ++p)
    irreducible += Field::create(8, p) ? 1 : 0;
  EXPECT_EQ(irreducible, 30U);  // of degree 8 over GF(2): (2^8 - 2^4) / 8
}

}  // namespace
}  // namespace calpe::gf
