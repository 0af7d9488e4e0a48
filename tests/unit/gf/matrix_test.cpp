// SPDX-License-Identifier: Apache-2.0
#include "gf/matrix.hpp"

#include <gtest/gtest.h>
#include <random>

#include "gf/bit_matrix.hpp"

namespace calpe::gf {
namespace {

Matrix random_matrix(const Field& field, std::size_t rows, std::size_t columns, std::mt19937& rng) {
  Matrix matrix(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (Element& cell : matrix.row(r))
      cell = static_cast<Element>(rng() % field.size());
  }
  return matrix;
}

TEST(Matrix, InverseTimesMatrixIsIdentity) {
  std::mt19937 rng(1);
  for (unsigned w = 2; w <= 8; ++w) {
    const auto field = *Field::create(w, 0);
    for (std::size_t size = 1; size <= 20; ++size) {
      const Matrix matrix = random_matrix(*field, size, size, rng);
      const auto inverse = invert(*field, matrix);
      ASSERT_EQ(inverse.has_value(), rank(*field, matrix) == size);
      if (!inverse) continue;
      ASSERT_EQ(multiply(*field, *inverse, matrix), Matrix::identity(size));
    }
  }
}

TEST(Matrix, ASingularMatrixHasNoInverse) {
  const auto field = *Field::create(8, 0);
  Matrix matrix(2, 2);
  matrix(0, 0) = 2, matrix(0, 1) = 3, matrix(1, 0) = 4, matrix(1, 1) = 6;  // row 1 = 2 * row 0
  EXPECT_FALSE(invert(*field, matrix));
  EXPECT_EQ(rank(*field, matrix), 1U);
}

TEST(BitMatrix, MatchesTheExampleOfTheHeader) {
  const auto field = *Field::create(3, 0xB);
  Matrix three(1, 1);
  three(0, 0) = 3;
  const BitMatrix bits = expand(*field, three);  // columns 3, 6, 7
  const bool expected[3][3] = {{true, false, true}, {true, true, true}, {false, true, true}};
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(bits.get(r, c), expected[r][c]) << r << "," << c;
  }
  EXPECT_EQ(bits.ones(), ones_table(*field)[3]);
}

TEST(BitMatrix, ExpansionMultipliesAsTheFieldDoes) {
  for (unsigned w = 2; w <= 8; ++w) {
    const auto field = *Field::create(w, 0);
    for (std::uint32_t a = 0; a < field->size(); ++a) {
      Matrix one(1, 1);
      one(0, 0) = Element(a);
      const BitMatrix bits = expand(*field, one);
      for (std::uint32_t x = 0; x < field->size(); ++x) {
        unsigned product = 0;
        for (unsigned b = 0; b < w; ++b) {
          unsigned bit = 0;
          for (unsigned t = 0; t < w; ++t)
            bit ^= (bits.get(b, t) ? 1U : 0U) & (x >> t & 1);
          product |= bit << b;
        }
        ASSERT_EQ(product, field->multiply(Element(a), Element(x)));
      }
    }
  }
}

TEST(BitMatrix, RankIsWordBitsTimesTheRankOfTheMatrix) {
  std::mt19937 rng(2);
  const auto field = *Field::create(4, 0);
  for (int i = 0; i < 200; ++i) {
    const Matrix matrix = random_matrix(*field, 1 + rng() % 5, 1 + rng() % 5, rng);
    ASSERT_EQ(rank(expand(*field, matrix)), 4 * rank(*field, matrix));
  }
}

}  // namespace
}  // namespace calpe::gf
