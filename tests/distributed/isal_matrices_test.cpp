// SPDX-License-Identifier: Apache-2.0
// Compares field, generator matrices and inversion of our libisal.so.2 with ISA-L's.
#include "support/isal_pair.hpp"

namespace calpe::tests {
namespace {

class IsalMatrices : public IsalPair {
 protected:
  static std::vector<Byte> generated(IsalFunctions::Generate* generate, int rows, int k) {
    // One extra element, to detect writes beyond the end.
    std::vector<Byte> matrix(static_cast<std::size_t>(rows * k) + 1, 0xEE);
    generate(matrix.data(), rows, k);
    return matrix;
  }

  struct Inversion {
    int status = 0;
    std::vector<Byte> left;  // of the input
    std::vector<Byte> inverse;
    bool operator==(const Inversion&) const = default;
  };
  static Inversion inverted(const IsalFunctions& isal, std::vector<Byte> matrix, int size) {
    Inversion result;
    result.inverse.resize(matrix.size());
    result.status = isal.gf_invert_matrix(matrix.data(), result.inverse.data(), size);
    result.left = std::move(matrix);
    if (result.status != 0) {  // of no meaning then
      result.left.clear();
      result.inverse.clear();
    }
    return result;
  }
};

TEST_F(IsalMatrices, EveryProductAndInverse) {
  for (unsigned a = 0; a < 256; ++a) {
    ASSERT_EQ(ours.gf_inv(static_cast<Byte>(a)), theirs.gf_inv(static_cast<Byte>(a))) << a;
    for (unsigned b = 0; b < 256; ++b) {
      ASSERT_EQ(ours.gf_mul(static_cast<Byte>(a), static_cast<Byte>(b)),
                theirs.gf_mul(static_cast<Byte>(a), static_cast<Byte>(b)))
          << a << " * " << b;
    }
  }
}

TEST_F(IsalMatrices, GeneratorsOfEverySize) {
  std::size_t compared = 0;
  for (int k = 1; k <= 255; ++k) {
    for (int rows = k; rows <= 256; rows += rows < k + 20 ? 1 : 17) {
      ASSERT_EQ(generated(ours.gf_gen_rs_matrix, rows, k),
                generated(theirs.gf_gen_rs_matrix, rows, k))
          << rows << " x " << k;
      ASSERT_EQ(generated(ours.gf_gen_cauchy1_matrix, rows, k),
                generated(theirs.gf_gen_cauchy1_matrix, rows, k))
          << rows << " x " << k;
      ++compared;
    }
  }
  EXPECT_GT(compared, 5000U);
}

// Few different values make many matrices singular.
TEST_F(IsalMatrices, InversesAndSingularMatrices) {
  std::size_t singular = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::size_t size = 1 + below(round < 2900 ? 12 : 60);
    std::vector<Byte> matrix = random_bytes(size * size);
    if (round % 2 == 0) {
      for (Byte& cell : matrix)
        cell &= 1;
    }
    const Inversion expected = inverted(theirs, matrix, static_cast<int>(size));
    ASSERT_EQ(inverted(ours, matrix, static_cast<int>(size)), expected) << size;
    ASSERT_TRUE(expected.status == 0 || expected.status == -1);
    singular += expected.status != 0 ? 1 : 0;
  }
  EXPECT_GT(singular, 300U);
  EXPECT_LT(singular, 2000U);
}

}  // namespace
}  // namespace calpe::tests
