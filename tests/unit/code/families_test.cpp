// SPDX-License-Identifier: Apache-2.0
#include "code/families.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

#include "code/code.hpp"
#include "code/matrix_hash.hpp"
#include "code/spec_rules.hpp"
#include "gf/bit_matrix.hpp"
#include "sha1.hpp"

namespace calpe::code {
namespace {

CodeSpec spec_of(const char* profile, unsigned data, unsigned parity) {
  CodeSpec spec = *find_profile(profile);
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  return spec;
}

// Check values: the first digits of the SHA-1 of the 4 x 10 parity rows as bytes.
std::string digest_of(const char* profile) {
  const Code code = *make_code(spec_of(profile, 10, 4));
  std::string bytes;
  for (const gf::Element cell : code.parity.cells())
    bytes.push_back(static_cast<char>(cell));
  return tests::sha1_hex(bytes).substr(0, 8);
}

TEST(Families, CheckValuesOfTenPlusFour) {
  EXPECT_EQ(digest_of("vandermonde"), "a2d9674d");
  EXPECT_EQ(digest_of("vandermonde-jerasure"), "baab77ef");
  EXPECT_EQ(digest_of("vandermonde-isal"), "a1cea572");
  EXPECT_EQ(digest_of("cauchy"), "8f17b0f8");
  EXPECT_EQ(digest_of("hybrid"), "32fd2265");
  EXPECT_EQ(digest_of("default"), "32fd2265");
  EXPECT_EQ(digest_of("lch"), "313f68db");
  EXPECT_EQ(digest_of("vandermonde-zfec"), "c65ca449");
  EXPECT_EQ(digest_of("vandermonde-lec"), "a7da7992");
}

TEST(Families, RaisingParityChangesNoRowOfCauchyAndHybrid) {
  for (const char* profile : {"cauchy", "hybrid"}) {
    const Code wide = *make_code(spec_of(profile, 20, 12));
    for (unsigned m = 1; m < 12; ++m) {
      const Code narrow = *make_code(spec_of(profile, 20, m));
      for (std::size_t r = 0; r < m; ++r) {
        for (std::size_t c = 0; c < 20; ++c)
          ASSERT_EQ(narrow.parity(r, c), wide.parity(r, c));
      }
    }
  }
}

std::size_t ones(const char* profile, unsigned data, unsigned parity) {
  CodeSpec spec = spec_of(profile, data, parity);
  spec.layout = Layout::packets;
  const Code code = *make_code(spec);
  return gf::expand(*code.field, code.parity).ones();
}

TEST(Families, XorCountsOfTheBitMatrices) {
  EXPECT_EQ(ones("cauchy-orig", 10, 2), 608U);
  EXPECT_EQ(ones("hybrid-good", 10, 2), 229U);
  EXPECT_EQ(ones("hybrid-good", 10, 4), 627U);
  for (unsigned m = 2; m <= 6; ++m) {
    EXPECT_LE(ones("hybrid-good", 10, m), ones("cauchy-good", 10, m)) << m;
  }
}

TEST(Families, HybridGoodTablesHoldEveryElementOnce) {
  for (unsigned w = 4; w <= 8; ++w) {
    // k + m = 2^w uses every point; a repeated one would make two columns or rows dependent.
    for (unsigned m : {3U, 4U, (1U << w) / 2}) {
      CodeSpec spec = spec_of("hybrid-good", (1U << w) - m, m);
      spec.word_bits = static_cast<std::uint8_t>(w);
      EXPECT_EQ(make_code(spec)->proof.kind, CodeProof::Kind::cauchy) << w << " " << m;
    }
  }
}

// The smallest of equal factors must be used: another one would decode too, but the bytes on disk
// would differ. Hence check values for many sizes.
TEST(Families, CheckValuesOfHybridGood) {
  const std::array<const char*, 5> digests = {"39210285", "cc0747e2", "cdd60428", "0f0afdbe",
                                              "6b6fefa1"};
  for (unsigned w = 4; w <= 8; ++w) {
    std::string bytes;
    for (unsigned k = 1; k <= 40 && k + 6 <= 1U << w; ++k) {
      CodeSpec spec = spec_of("hybrid-good", k, 6);
      spec.word_bits = static_cast<std::uint8_t>(w);
      const Code code = *make_code(spec);
      for (const gf::Element cell : code.parity.cells())
        bytes.push_back(static_cast<char>(cell));
    }
    EXPECT_EQ(tests::sha1_hex(bytes).substr(0, 8), digests[w - 4]) << w;
  }
}

// Shard headers store these, so they never change.
TEST(Families, HashesOfMatrices) {
  const auto hash = [](const char* profile, unsigned data, unsigned parity) {
    const Code code = *make_code(spec_of(profile, data, parity));
    EXPECT_EQ(matrix_hash(code), code.spec.matrix_hash);
    return code.spec.matrix_hash;
  };
  EXPECT_EQ(hash("cauchy", 10, 4), 13176704237096379913U);
  EXPECT_EQ(hash("hybrid", 4, 2), 6308788895473107061U);
  EXPECT_EQ(hash("hybrid", 2, 4), 3048863496562438879U);
}

TEST(Families, Raid6IsPAndQ) {
  const Code code = *make_code(spec_of("raid6", 8, 2));
  for (std::size_t j = 0; j < 8; ++j) {
    EXPECT_EQ(code.parity(0, j), 1);
    EXPECT_EQ(code.parity(1, j), 1U << j);
  }
}

TEST(Families, LrcGroupsAreContiguousAndEven) {
  CodeSpec spec = spec_of("lrc", 12, 4);
  spec.local_groups = 2;
  const Code code = *make_code(spec);
  for (std::size_t j = 0; j < 12; ++j) {
    EXPECT_EQ(code.parity(0, j), j < 6 ? 1 : 0);
    EXPECT_EQ(code.parity(1, j), j < 6 ? 0 : 1);
    EXPECT_EQ(code.parity(2, j), code.field->power(2, j));
    EXPECT_EQ(code.parity(3, j), code.field->power(4, j));
  }
  for (std::size_t data = 1; data <= 40; ++data) {
    for (std::size_t groups = 1; groups <= data; ++groups) {
      std::vector<std::size_t> sizes(groups);
      for (std::size_t j = 0; j < data; ++j)
        ++sizes[lrc_group_of(data, groups, j)];
      const auto [least, most] = std::ranges::minmax(sizes);
      ASSERT_GE(least, 1U);
      ASSERT_LE(most - least, 1U);
    }
  }
}

TEST(SpecRules, RefusalsNameOperandGotAndExpected) {
  const auto message = [](CodeSpec spec) { return resolve(spec).error().message; };
  EXPECT_EQ(message(spec_of("cauchy", 0, 2)), "data_shards is 0; expected at least 1");
  EXPECT_EQ(message(spec_of("cauchy", 2, 0)), "parity_shards is 0; expected at least 1");
  EXPECT_EQ(message(spec_of("cauchy", 255, 2)),
            "data_shards + parity_shards is 257; expected at most 256 for profile cauchy over "
            "GF(2^8); profile lch takes more");
  EXPECT_EQ(message(spec_of("vandermonde-lec", 252, 4)),
            "data_shards + parity_shards is 256; expected at most 255 for profile vandermonde-lec "
            "over GF(2^8); profile lch takes more");
  EXPECT_EQ(message(spec_of("raid6", 8, 3)),
            "parity_shards is 3; expected 1 or 2 for profile raid6");
  CodeSpec spec = spec_of("cauchy", 4, 2);
  spec.word_bits = 4;
  EXPECT_EQ(message(spec), "word_bits is 4; expected 8 with layout bytes");
  spec.layout = Layout::packets;
  spec.data_shards = 15;
  EXPECT_FALSE(resolve(spec));  // 17 > 2^4
  spec.data_shards = 14;
  EXPECT_TRUE(resolve(spec));
  spec = spec_of("cauchy-good", 4, 2);
  spec.layout = Layout::bytes;
  EXPECT_EQ(message(spec), "layout is bytes; expected packets for profile cauchy-good");
  spec = spec_of("cauchy", 4, 2);
  spec.family = static_cast<CodeFamily>(99);
  EXPECT_EQ(message(spec), "family is 99, unknown to this version");
}

TEST(SpecRules, CustomNeedsRowsAndEveryFieldIsChecked) {
  EXPECT_EQ(make_code({.family = CodeFamily::custom, .data_shards = 2, .parity_shards = 1})
                .error()
                .message,
            "family is custom; expected a profile; custom rows are given with the spec");
  CodeSpec spec = spec_of("cauchy", 4, 2);
  spec.polynomial = 0x100;  // x^8
  const auto no_field = resolve(spec);
  ASSERT_FALSE(no_field);
  EXPECT_EQ(no_field.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(gf::usual_polynomial(1), 0U);
  EXPECT_EQ(gf::usual_polynomial(gf::word_bits_max + 1), 0U);
}

TEST(SpecRules, RowsAreAcceptedForCustomOnly) {
  const std::vector<gf::Element> rows = {1, 1};
  for (const unsigned family : {0U, 1U, 99U}) {  // 99 is unused
    CodeSpec spec = spec_of("cauchy", 2, 1);
    spec.family = static_cast<CodeFamily>(family);
    EXPECT_EQ(make_custom_code(spec, rows).error().message,
              "family is " + std::to_string(family) + "; expected 14 (custom): rows were given");
  }
}

TEST(SpecRules, ResolvingFillsInEverythingThatDecidesBytes) {
  CodeSpec spec = spec_of("cauchy", 5, 2);
  spec.layout = Layout::packets;
  spec.word_bits = 3;
  const Code code = *make_code(spec);
  EXPECT_EQ(code.spec.polynomial, 0xBU);
  EXPECT_EQ(code.spec.packet_bytes, 512U);
  EXPECT_NE(code.spec.matrix_hash, 0U);
  EXPECT_EQ(make_code(code.spec)->spec, code.spec);
  CodeSpec other = code.spec;
  other.matrix_hash ^= 1;
  EXPECT_EQ(make_code(other).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace calpe::code
