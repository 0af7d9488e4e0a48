// SPDX-License-Identifier: Apache-2.0
#include "code/proof.hpp"

#include <gtest/gtest.h>
#include <numeric>

#include "code/families.hpp"
#include "code/minors.hpp"

namespace calpe::code {
namespace {

CodeSpec spec_of(const char* profile, unsigned data, unsigned parity) {
  CodeSpec spec = *find_profile(profile);
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  return spec;
}

TEST(Minors, EachIsVisitedOnce) {
  const auto field = *gf::Field::create(8, 0);
  for (std::size_t m = 1; m <= 6; ++m) {
    for (std::size_t k = 1; k <= 8; ++k) {
      const auto rows = cauchy_rows(*field, {.data = k, .parity = m});
      const MinorSearch search = search_minors(*field, rows, 1'000'000);
      ASSERT_TRUE(search.complete);
      ASSERT_FALSE(search.found_singular());
      ASSERT_EQ(search.evaluated, minor_count(m, k)) << m << " " << k;
    }
  }
  EXPECT_EQ(minor_count(4, 10), 1000U);  // C(14, 4) - 1
}

// Minors that were not evaluated prove nothing.
TEST(Minors, ABudgetEndsTheSearch) {
  const auto field = *gf::Field::create(8, 0);
  const auto rows = cauchy_rows(*field, {.data = 6, .parity = 5});
  const std::uint64_t all = minor_count(5, 6);
  for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{30}, all - 1}) {
    const MinorSearch search = search_minors(*field, rows, budget);
    EXPECT_FALSE(search.found_singular());
    EXPECT_EQ(search.complete, search.evaluated == all) << budget;
    EXPECT_LE(search.evaluated, budget + 30) << "one level of entries at most";
  }
  EXPECT_TRUE(search_minors(*field, rows, all).complete);
}

TEST(Proof, LrcIsProvenForEveryShapeUpToTwentyFour) {
  for (unsigned k = 1; k <= 20; ++k) {
    for (unsigned m = 1; k + m <= 24; ++m) {
      for (unsigned groups = 1; groups <= std::min(k, m); ++groups) {
        CodeSpec spec = spec_of("lrc", k, m);
        spec.local_groups = static_cast<std::uint16_t>(groups);
        const Code code = *make_code(spec);
        // One group is an MDS code, recognised as such if the rows are Cauchy.
        ASSERT_TRUE(code.proof.proven()) << k << "+" << m << " groups " << groups;
        ASSERT_GE(code.proof.losses, m - groups + 1);
      }
    }
  }
}

// make_code() builds only sound groups, so the test changes the rows afterwards.
TEST(Proof, LrcWithAGlobalParityThatRepeatsItsLocalOnesIsNotProven) {
  CodeSpec spec = spec_of("lrc", 6, 4);
  spec.local_groups = 2;
  Code code = *make_code(spec);
  ASSERT_TRUE(prove_rows(code).proven());
  for (std::size_t j = 0; j < 6; ++j)
    code.parity(2, j) = static_cast<gf::Element>(code.parity(0, j) ^ code.parity(1, j));
  EXPECT_FALSE(prove_rows(code).proven());
}

// Evaluates every square sub-matrix by elimination, the slow way.
bool singular_by_rank(const gf::Field& field, const gf::Matrix& matrix) {
  for (std::size_t rows = 1; rows < std::size_t{1} << matrix.rows(); ++rows) {
    for (std::size_t columns = 1; columns < std::size_t{1} << matrix.columns(); ++columns) {
      const auto size = static_cast<std::size_t>(std::popcount(rows));
      if (static_cast<std::size_t>(std::popcount(columns)) != size) continue;
      gf::Matrix part(size, size);
      std::size_t pr = 0;
      for (std::size_t r = 0; r < matrix.rows(); ++r) {
        if ((rows >> r & 1) == 0) continue;
        std::size_t pc = 0;
        for (std::size_t c = 0; c < matrix.columns(); ++c) {
          if ((columns >> c & 1) != 0) part(pr, pc++) = matrix(r, c);
        }
        ++pr;
      }
      if (gf::rank(field, part) < size) return true;
    }
  }
  return false;
}

TEST(Minors, AgreeWithRanksOnRandomMatrices) {
  std::uint32_t seed = 12345;
  const auto next = [&] { return seed = seed * 1664525 + 1013904223; };
  unsigned singular = 0;
  for (int round = 0; round < 300; ++round) {
    const auto field = *gf::Field::create(3 + next() % 3, 0);
    gf::Matrix matrix(1 + (next() >> 8) % 3, 1 + (next() >> 8) % 4);
    for (std::size_t r = 0; r < matrix.rows(); ++r) {
      for (auto& cell : matrix.row(r))
        cell = gf::Element((next() >> 16) % field->size());
    }
    const MinorSearch search = search_minors(*field, matrix, 1'000'000);
    ASSERT_EQ(search.found_singular(), singular_by_rank(*field, matrix)) << round;
    if (!search.found_singular()) continue;
    ++singular;
    gf::Matrix part(search.rows.size(), search.columns.size());
    for (std::size_t r = 0; r < part.rows(); ++r) {
      for (std::size_t c = 0; c < part.columns(); ++c) {
        part(r, c) = matrix(search.rows[r], search.columns[c]);
      }
    }
    ASSERT_LT(gf::rank(*field, part), part.rows());
  }
  EXPECT_GT(singular, 20U);
}

TEST(Proof, VandermondeIsalTenPlusFiveIsRefuted) {
  const Code code = *make_code(spec_of("vandermonde-isal", 10, 5));
  EXPECT_EQ(code.proof.kind, CodeProof::Kind::refuted);
  EXPECT_EQ(code.proof.dead_pattern.size(), 5U);
  EXPECT_FALSE(is_recoverable(code, code.proof.dead_pattern));
  // Intel's example: data 0, 3, 5 with parity 2, 3.
  const std::vector<ShardIndex> known = {0, 3, 5, 12, 13};
  EXPECT_FALSE(is_recoverable(code, known));
  const auto counts = *count_patterns(code);
  EXPECT_EQ(counts[4].patterns - counts[4].recoverable, 10U);  // of 3003
}

// ISA-L documents: k <= 3 always; k = 4 up to 25 in all; k = 5 up to 10; m <= 3; m = 4 up to k =
// 21.
TEST(Proof, VandermondeIsalIsRefusedExactlyWhereIsalDocumentsIt) {
  for (unsigned k = 1; k <= 24; ++k) {
    for (unsigned m = 1; m <= 24; ++m) {
      const bool documented =
          k <= 3 || m <= 3 || (k == 4 && k + m <= 25) || (k == 5 && m <= 5) || (k <= 21 && m == 4);
      const Code code = *make_code(spec_of("vandermonde-isal", k, m));
      ASSERT_EQ(code.proof.proven(), documented) << k << "+" << m << ": " << code.proof.text;
      if (code.proof.proven()) continue;
      ASSERT_EQ(code.proof.kind, CodeProof::Kind::refuted);
      ASSERT_LE(code.proof.dead_pattern.size(), m);
      ASSERT_FALSE(is_recoverable(code, code.proof.dead_pattern));
    }
  }
  EXPECT_TRUE(make_code(spec_of("vandermonde-isal", 253, 3))->proof.proven());
  EXPECT_TRUE(make_code(spec_of("vandermonde-isal", 3, 253))->proof.proven());
  EXPECT_FALSE(make_code(spec_of("vandermonde-isal", 200, 56))->proof.proven());
}

TEST(Proof, TwoPolynomialRowsAreNotMds) {
  // Rows 1 and y over Cauchy rows fail at 3+3 already.
  CodeSpec spec;
  spec.family = CodeFamily::custom;
  spec.data_shards = spec.parity_shards = 3;
  const auto field = *gf::Field::create(8, 0);
  std::vector<gf::Element> rows;
  for (unsigned j = 0; j < 3; ++j)
    rows.push_back(1);
  for (unsigned j = 0; j < 3; ++j)
    rows.push_back(gf::Element(2 + j));
  for (unsigned j = 0; j < 3; ++j)
    rows.push_back(field->inverse(gf::Element(1 ^ (2 + j))));
  const Code code = *make_custom_code(spec, rows);
  EXPECT_EQ(code.proof.kind, CodeProof::Kind::refuted);
  EXPECT_FALSE(is_recoverable(code, code.proof.dead_pattern));
}

TEST(Proof, ACauchyMatrixIsRecognisedWhateverItsScales) {
  const auto field = *gf::Field::create(8, 0);
  CodeSpec spec;
  spec.family = CodeFamily::custom;
  spec.data_shards = 200;
  spec.parity_shards = 40;
  gf::Matrix rows = cauchy_rows(*field, {.data = 200, .parity = 40});
  for (std::size_t r = 0; r < 40; ++r) {
    for (std::size_t c = 0; c < 200; ++c) {
      rows(r, c) = field->multiply(rows(r, c), gf::Element(1 + (r * 7 + 3) % 255));
      rows(r, c) = field->multiply(rows(r, c), gf::Element(1 + (c * 11 + 5) % 255));
    }
  }
  EXPECT_EQ(make_custom_code(spec, rows.cells())->proof.kind, CodeProof::Kind::cauchy);
  rows(17, 99) ^= 1;  // one wrong coefficient invalidates the certificate
  EXPECT_FALSE(make_custom_code(spec, rows.cells())->proof.proven());
}

TEST(Proof, FormCheckCatchesPlantedFaults) {
  const auto field = *gf::Field::create(8, 0);
  const gf::Matrix rows = hybrid_rows(*field, {.data = 6, .parity = 3});
  const CauchyForm good = *recognise_cauchy(*field, rows);
  ASSERT_TRUE(has_form(*field, rows, good));
  CauchyForm bad = good;
  bad.row_points[1] = bad.row_points[2];
  EXPECT_FALSE(has_form(*field, rows, bad));
  bad = good;
  bad.column_scales[0] = 0;
  EXPECT_FALSE(has_form(*field, rows, bad));
  bad = good;
  bad.column_points[4] ^= 1;
  EXPECT_FALSE(has_form(*field, rows, bad));
}

TEST(Proof, LrcToleratesOneMoreThanItsGlobals) {
  CodeSpec spec = spec_of("lrc", 12, 4);
  spec.local_groups = 2;
  const Code code = *make_code(spec);
  EXPECT_EQ(code.proof.kind, CodeProof::Kind::pyramid);
  EXPECT_EQ(code.proof.losses, 3U);
  const auto counts = *count_patterns(code);
  for (std::size_t e = 0; e < 3; ++e)
    EXPECT_EQ(counts[e].recoverable, counts[e].patterns);
  EXPECT_EQ(counts[3].patterns, 1820U);
  // Unrecoverable in any code of this shape, for lack of equations. 4 lost of one group of 7: 70; 3
  // and a global: 140; 2 and both globals: 42. All others are rebuilt, as in Azure's paper.
  EXPECT_EQ(counts[3].recoverable, 1820U - 70 - 140 - 42);
}

}  // namespace
}  // namespace calpe::code
