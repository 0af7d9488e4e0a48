// SPDX-License-Identifier: Apache-2.0
// Two independent proofs of every profile: all minors of all 276 (k, m) with k+m <= 24, and the
// Cauchy certificate of all 32,640 (k, m) with k+m <= 256. lch has 21,845 of these.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

#include <calpe/code_spec.hpp>

#include "code/code.hpp"
#include "code/families.hpp"
#include "code/minors.hpp"
#include "support/profile_lists.hpp"
#include "support/random_choice.hpp"

namespace calpe::code {
namespace {

class MdsProfile : public ::testing::TestWithParam<const char*> {
 protected:
  static CodeSpec spec(unsigned data, unsigned parity) {
    CodeSpec spec = *find_profile(GetParam());
    spec.data_shards = static_cast<std::uint16_t>(data);
    spec.parity_shards = static_cast<std::uint16_t>(parity);
    return spec;
  }
  static unsigned parity_max() { return std::string_view(GetParam()) == "raid6" ? 2 : 256; }
  static unsigned shards_max() {
    return std::string_view(GetParam()) == "vandermonde-lec" ? 255 : 256;
  }
  static bool is_lch() { return std::string_view(GetParam()) == "lch"; }
  static bool is_defined(unsigned data, unsigned parity) {
    return !is_lch() || data + std::bit_ceil(parity) <= 256;
  }
};

TEST_P(MdsProfile, AllMinorsOfAllSizesUpToTwentyFour) {
  std::uint64_t minors = 0;
  unsigned pairs = 0;
  for (unsigned shards = 2; shards <= 24; ++shards) {
    for (unsigned m = 1; m < shards && m <= parity_max(); ++m) {
      const Code code = *make_code(spec(shards - m, m));
      const MinorSearch search = search_minors(*code.field, code.parity, UINT64_MAX);
      ASSERT_TRUE(search.complete);
      ASSERT_FALSE(search.found_singular()) << GetParam() << " " << shards - m << "+" << m;
      minors += search.evaluated;
      ++pairs;
    }
  }
  if (parity_max() == 256) {
    EXPECT_EQ(pairs, 276U);
    EXPECT_EQ(minors, 33'554'106U);
  }
  std::printf("%s: %u pairs, %llu minors, none singular\n", GetParam(), pairs,
              static_cast<unsigned long long>(minors));
}

// A wide code has too many minors, so this takes rows and columns from all over it.
TEST(WideCode, AllMinorsOfSampledRowsAndColumns) {
  conformance::Random random(1);
  std::uint64_t minors = 0;
  for (unsigned sample = 0; sample < 400; ++sample) {
    CodeSpec spec = *find_profile("lch");
    spec.word_bits = 16;
    spec.parity_shards = 1U << random.below(16);
    spec.parity_shards = random.between<std::uint32_t>(1, spec.parity_shards);
    spec.data_shards = random.between<std::uint32_t>(1, 65536 - std::bit_ceil(spec.parity_shards));
    const Code code = *make_code(spec);
    const auto some = [&](std::size_t count, std::size_t most) {
      std::set<std::size_t> chosen;
      while (chosen.size() < std::min(count, most))
        chosen.insert(random.below(count));
      return chosen;
    };
    const auto rows = some(spec.parity_shards, 6);
    const auto columns = some(spec.data_shards, 8);
    gf::Matrix part(rows.size(), columns.size());
    std::size_t r = 0;
    for (const std::size_t i : rows) {
      std::size_t c = 0;
      for (const std::size_t j : columns)
        part(r, c++) = code.coefficient(i, j);
      ++r;
    }
    const MinorSearch search = search_minors(*code.field, part, UINT64_MAX);
    ASSERT_TRUE(search.complete && !search.found_singular())
        << spec.data_shards << "+" << spec.parity_shards;
    minors += search.evaluated;
  }
  std::printf("lch w=16: %llu minors of 400 codes, none singular\n",
              static_cast<unsigned long long>(minors));
}

// Slow to construct, because each row tries many scales: 4,560 sizes here, all 32,640 in the
// nightly run.
bool is_slow(std::string_view profile) {
  return profile == "hybrid-good" || profile == "cauchy-good";
}

TEST_P(MdsProfile, CertificateOfEverySize) {
  const bool all = !is_slow(GetParam()) || std::getenv("CALPE_NIGHTLY") != nullptr;
  const unsigned shards = all ? shards_max() : 96;
  unsigned pairs = 0;
  for (unsigned k = 1; k < shards; ++k) {
    for (unsigned m = 1; m <= std::min(shards - k, parity_max()); ++m) {
      const auto code = make_code(spec(k, m));
      ASSERT_EQ(code.has_value(), is_defined(k, m)) << GetParam() << " " << k << "+" << m;
      if (!code) continue;
      ASSERT_EQ(code->proof.kind, CodeProof::Kind::cauchy) << GetParam() << " " << k << "+" << m;
      ++pairs;
    }
  }
  if (parity_max() == 256) {
    EXPECT_EQ(pairs, is_lch() ? 21'845 : shards * (shards - 1) / 2);  // 32,640 for 256
  }
  std::printf("%s: certificate of %u pairs\n", GetParam(), pairs);
}

// Excludes profiles that resolve to others, are not MDS in every shape, or have no rows.
INSTANTIATE_TEST_SUITE_P(Profiles, MdsProfile,
                         ::testing::ValuesIn(tests::names_of(tests::profiles_but(
                             {"default", "vandermonde-isal", "lrc", "custom"}))));

// At most one row may be at infinity: with two polynomial rows, 1 and y, the code is not MDS.
TEST(TwoPolynomialRows, AreReportedAsNotMds) {
  const auto field = *gf::Field::create(8, 0);
  unsigned refuted = 0;
  for (std::size_t m = 3; m <= 6; ++m) {
    for (std::size_t k = 3; k + m <= 16; ++k) {
      CodeSpec spec;
      spec.family = CodeFamily::custom;
      spec.data_shards = static_cast<std::uint16_t>(k);
      spec.parity_shards = static_cast<std::uint16_t>(m);
      gf::Matrix rows(m, k);
      for (std::size_t j = 0; j < k; ++j) {
        rows(0, j) = 1;
        rows(1, j) = static_cast<gf::Element>(m - 1 + j);
        for (std::size_t i = 2; i < m; ++i) {
          rows(i, j) = field->inverse(static_cast<gf::Element>((i - 1) ^ (m - 1 + j)));
        }
      }
      const Code code = *make_custom_code(spec, rows.cells());
      ASSERT_EQ(code.proof.kind, CodeProof::Kind::refuted) << k << "+" << m;
      ++refuted;
    }
  }
  std::printf("two polynomial rows: %u of %u shapes refuted\n", refuted, refuted);
}

}  // namespace
}  // namespace calpe::code
