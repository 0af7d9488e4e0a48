// SPDX-License-Identifier: Apache-2.0
// Tests what `default` resolves to, a rule of the format, with a second implementation.
#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "code/code.hpp"
#include "code/spec_rules.hpp"

namespace calpe::code {
namespace {

CodeSpec default_spec(unsigned data, unsigned parity) {
  CodeSpec spec;
  spec.data_shards = static_cast<std::uint16_t>(data);
  spec.parity_shards = static_cast<std::uint16_t>(parity);
  return spec;
}

// From docs/codes.md, with the positions of parity and data counted one by one.
CodeFamily expected_family(unsigned data, unsigned parity) {
  if (parity < 5) return CodeFamily::hybrid;
  unsigned n = 1;
  while (n < parity)
    n += n;
  unsigned places = n;
  for (unsigned covered = 0; covered < data; covered += n)
    places += n;
  return places > 256 ? CodeFamily::hybrid : CodeFamily::lch;
}

TEST(DefaultProfile, BoundaryOfEverySize) {
  unsigned pairs = 0;
  unsigned of_lch = 0;
  for (unsigned k = 1; k < 256; ++k) {
    for (unsigned m = 1; k + m <= 256; ++m) {
      const auto resolved = resolve(default_spec(k, m));
      ASSERT_TRUE(resolved) << resolved.error().message;
      ASSERT_EQ(resolved->family, expected_family(k, m)) << k << "+" << m;
      CodeSpec lch = default_spec(k, m);
      lch.family = CodeFamily::lch;
      ASSERT_EQ(resolve(lch).has_value(),
                m < 5 ? k + (m == 3 ? 4 : m) <= 256 : resolved->family == CodeFamily::lch)
          << k << "+" << m;
      of_lch += resolved->family == CodeFamily::lch ? 1 : 0;
      ++pairs;
    }
  }
  EXPECT_EQ(pairs, 32'640U);
  EXPECT_EQ(of_lch, 20'832U);
}

TEST(DefaultProfile, IsUsedWhenASpecNamesNoFamily) {
  EXPECT_EQ(CodeSpec{}.family, CodeFamily::default_code);
  EXPECT_EQ(find_profile("default")->family, CodeFamily::default_code);
  EXPECT_EQ(all_profiles().front().name, "default");
}

TEST(DefaultProfile, IsReplacedByTheRealFamily) {
  for (const unsigned m : {4U, 5U}) {
    const Code code = *make_code(default_spec(10, m));
    CodeSpec named = default_spec(10, m);
    named.family = m == 4 ? CodeFamily::hybrid : CodeFamily::lch;
    const Code same = *make_code(named);
    EXPECT_EQ(code.spec, same.spec);
    EXPECT_TRUE(std::ranges::equal(code.parity.cells(), same.parity.cells()));
    EXPECT_EQ(code.lch.has_value(), m == 5);

    CodeSpec checked = default_spec(10, m);
    checked.matrix_hash = code.spec.matrix_hash;
    EXPECT_EQ(make_code(checked)->spec, code.spec);
    ++checked.matrix_hash;
    EXPECT_EQ(make_code(checked).error().code, ErrorCode::corrupt);
  }
}

TEST(DefaultProfile, IsHybridOverOtherPolynomials) {
  CodeSpec spec = default_spec(10, 5);
  spec.polynomial = 0x11B;
  EXPECT_EQ(resolve(spec)->family, CodeFamily::hybrid);
  spec.polynomial = 0x11D;
  EXPECT_EQ(resolve(spec)->family, CodeFamily::lch);
}

TEST(DefaultProfile, IsLchOver16BitsBeyond256Shards) {
  EXPECT_EQ(resolve(default_spec(250, 6))->word_bits, 8);
  for (const unsigned parity : {1U, 7U, 300U}) {
    const CodeSpec spec = *resolve(default_spec(256, parity));
    EXPECT_EQ(spec.family, CodeFamily::lch);
    EXPECT_EQ(spec.word_bits, 16);
  }
}

TEST(DefaultProfile, RefusalsNameTheRequest) {
  const auto message = [](const CodeSpec& spec) { return resolve(spec).error().message; };
  CodeSpec spec = default_spec(10, 4);
  spec.layout = Layout::packets;
  EXPECT_EQ(message(spec),
            "layout is packets; expected bytes for profile default, or one of cauchy, hybrid, "
            "hybrid-good, cauchy-orig, cauchy-good");
  EXPECT_EQ(message(default_spec(65'000, 600)),
            "data_shards + parity_shards is 65600; expected at most 65536 for profile default over "
            "GF(2^16)");
  spec = default_spec(10, 4);
  spec.local_groups = 2;
  EXPECT_EQ(message(spec), "local_groups is 2; expected 0 for profile default");
}

}  // namespace
}  // namespace calpe::code
