// SPDX-License-Identifier: Apache-2.0
#include "gf/field.hpp"

#include <gtest/gtest.h>

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
