// SPDX-License-Identifier: Apache-2.0
// Resolved specs as bytes: round trips for every profile, and refusal of all other bytes.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <calpe/codec.hpp>

#include "base/little_endian.hpp"
#include "code/code.hpp"

namespace calpe {
namespace {

using ::testing::HasSubstr;

// Every profile and layout in many shapes, as a codec would resolve it.
std::vector<CodeSpec> resolved_specs() {
  std::vector<CodeSpec> specs;
  const auto add = [&](CodeSpec spec) {
    for (const auto& [k, m] : {std::pair(1U, 1U),
                               {1U, 4U},
                               {3U, 2U},
                               {4U, 1U},
                               {10U, 4U},
                               {10U, 5U},
                               {17U, 3U},
                               {120U, 2U},
                               {255U, 1U}}) {
      spec.data_shards = k;
      spec.parity_shards = m;
      for (std::uint32_t groups = 0; groups < 3; ++groups) {
        spec.local_groups = groups;
        if (const auto code = code::make_code(spec)) specs.push_back(code->spec);
      }
    }
  };
  for (const Profile& profile : list_profiles()) {
    CodeSpec spec{.family = profile.family};
    for (const std::uint32_t polynomial : {0U, 0x11BU}) {
      spec.polynomial = polynomial;
      if (profile.bytes_layout) add(spec);
    }
    spec.polynomial = 0;
    spec.layout = Layout::packets;
    for (std::uint8_t bits = 2; bits <= 8 && profile.packets_layout; ++bits) {
      spec.word_bits = bits;
      for (const std::uint32_t packet_bytes : {0U, 8U, 4096U, 1U << 30U}) {
        spec.packet_bytes = packet_bytes;
        add(spec);
      }
    }
  }
  for (const CodeFamily family : {CodeFamily::lch, CodeFamily::hybrid, CodeFamily::cauchy}) {
    specs.push_back(
        code::make_code({.family = family, .data_shards = 248, .parity_shards = 8})->spec);
  }
  return specs;
}

CodeSpec spec_of(CodeSpec spec) {
  return code::make_code(spec)->spec;
}

template <class Outcome>
std::string refusal(const Outcome& outcome) {
  return outcome ? "accepted" : outcome.error().message;
}

// Bytes with a field changed and the right checksum.
template <class T>
SpecBytes changed(SpecBytes bytes, std::size_t at, T value) {
  store_little(bytes.data() + at, value);
  store_little(bytes.data() + 56, std::uint64_t{XXH3_64bits(bytes.data(), 56)});
  return bytes;
}

TEST(SpecBytes, RoundTripsOfEveryProfile) {
  std::map<SpecBytes, CodeSpec> seen;
  for (const CodeSpec& spec : resolved_specs()) {
    const auto bytes = encode_spec(spec);
    ASSERT_TRUE(bytes) << bytes.error().message;
    const auto again = decode_spec(*bytes);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, spec);
    EXPECT_EQ(*encode_spec(*again), *bytes);
    EXPECT_EQ(code::make_code(*again)->spec, spec);
    const auto [found, is_new] = seen.try_emplace(*bytes, spec);
    EXPECT_TRUE(is_new || found->second == spec) << "two specs have the same bytes";
  }
  EXPECT_GT(seen.size(), 200U);
}

TEST(SpecBytes, ACodecOfTheBytesHasTheSameSpec) {
  const Codec codec = *Codec::create({.data_shards = 12, .parity_shards = 6});
  EXPECT_EQ(codec.spec().family, CodeFamily::lch);
  const auto spec = decode_spec(*encode_spec(codec.spec()));
  ASSERT_TRUE(spec);
  EXPECT_EQ(Codec::create(*spec)->spec(), codec.spec());
}

// docs/codes.md has the same bytes; tests/golden/codes_doc_test.py computes them again.
TEST(SpecBytes, HaveTheDocumentedForm) {
  constexpr std::array<unsigned char, spec_bytes> expected = {
      0x63, 0x61, 0x6c, 0x70, 0x65, 0x2d, 0x63, 0x31, 0x01, 0x00, 0x00, 0x00, 0x40,
      0x00, 0x00, 0x00, 0x03, 0x01, 0x0a, 0x00, 0x04, 0x00, 0x08, 0x00, 0x1d, 0x01,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x99, 0xd5, 0x14, 0xfc, 0x8c, 0x35, 0xe3, 0x08, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0xf7, 0xd4, 0xfa, 0xef, 0x91, 0xd7, 0x79, 0x97};
  const auto bytes = encode_spec(spec_of({.data_shards = 10, .parity_shards = 4}));
  ASSERT_TRUE(bytes);
  for (std::size_t i = 0; i < spec_bytes; ++i)
    EXPECT_EQ(std::to_integer<unsigned>((*bytes)[i]), expected[i]) << i;
}

TEST(SpecBytes, EveryFlippedBitIsRefused) {
  for (const CodeSpec& spec : resolved_specs()) {
    const SpecBytes good = *encode_spec(spec);
    for (std::size_t bit = 0; bit < 8 * spec_bytes; ++bit) {
      SpecBytes bytes = good;
      bytes[bit / 8] ^= std::byte(1U << bit % 8);
      const auto decoded = decode_spec(bytes);
      ASSERT_FALSE(decoded) << "bit " << bit;
      ASSERT_EQ(decoded.error().code, ErrorCode::corrupt);
    }
  }
}

// Also with a matching checksum: one changed field gives an error, or another spec that is
// resolved.
TEST(SpecBytes, EveryFlippedBitWithAChecksumIsRefusedOrAnotherSpec) {
  for (const CodeSpec& spec :
       {spec_of({.data_shards = 10, .parity_shards = 4}),
        spec_of(
            {.family = CodeFamily::lrc, .data_shards = 12, .parity_shards = 4, .local_groups = 2}),
        spec_of({.family = CodeFamily::cauchy_good,
        .layout = Layout::packets,
        .data_shards = 3,
        .parity_shards = 2,
        .word_bits = 4})}) {
    const SpecBytes good = *encode_spec(spec);
    for (std::size_t bit = 0; bit < std::size_t{8} * 56; ++bit) {
      const std::size_t at = bit / 8;
      const auto value =
          static_cast<std::uint8_t>(std::to_integer<unsigned>(good[at]) ^ (1U << bit % 8));
      const SpecBytes bytes = changed(good, at, value);
      const auto decoded = decode_spec(bytes);
      if (!decoded) continue;
      EXPECT_EQ(*encode_spec(*decoded), bytes) << "bit " << bit;
      EXPECT_FALSE(*decoded == spec) << "bit " << bit;
      const auto code = code::make_code(*decoded);
      EXPECT_TRUE(!code || code->spec == *decoded) << "bit " << bit;
    }
  }
}

TEST(SpecBytes, RefusalsNameTheField) {
  const SpecBytes good = *encode_spec(spec_of({.data_shards = 10, .parity_shards = 4}));
  const auto refused = [&](std::size_t at, auto value) {
    return refusal(decode_spec(changed(good, at, value)));
  };
  EXPECT_EQ(refusal(decode_spec(std::span(good).first(63))),
            "spec bytes: there are 63; expected 64");
  EXPECT_EQ(refusal(decode_spec({})), "spec bytes: there are 0; expected 64");
  EXPECT_EQ(refusal(decode_spec(std::vector<std::byte>(65))),
            "spec bytes: there are 65; expected 64");
  EXPECT_EQ(refusal(decode_spec(SpecBytes{})), "spec bytes: magic is wrong; expected calpe-c1");
  EXPECT_EQ(refused(8, std::uint32_t{2}), "spec bytes: version is 2; expected 1");
  EXPECT_EQ(refused(12, std::uint32_t{65}), "spec bytes: byte 12 is 65; expected 64");
  EXPECT_EQ(refused(16, std::uint8_t{0}), "spec bytes: family is default; expected a resolved one");
  EXPECT_EQ(refused(16, std::uint8_t{15}), "spec bytes: family is 15, unknown to this version");
  EXPECT_EQ(refused(17, std::uint8_t{3}), "spec bytes: layout is 3; expected 1 or 2");
  EXPECT_EQ(refused(18, std::uint16_t{0}), "spec bytes: data_shards is 0; expected at least 1");
  EXPECT_THAT(refused(20, std::uint16_t{65535}), HasSubstr("data_shards + parity_shards is 65545"));
  EXPECT_EQ(refused(24, std::uint32_t{0}), "spec bytes: polynomial is 0; expected 285");
  EXPECT_EQ(refused(28, std::uint32_t{1}),
            "spec bytes: packet_bytes is 1; expected 0 with layout bytes");
  EXPECT_THAT(refused(32, std::uint16_t{1}), HasSubstr("local_groups is 1; expected 0"));
  EXPECT_EQ(refused(40, std::uint64_t{0}),
            "spec bytes: matrix_hash is 0; expected the hash of the code");
  for (const std::size_t unused : {23U, 34U, 39U, 48U, 55U})
    EXPECT_EQ(refused(unused, std::uint8_t{1}),
              "spec bytes: byte " + std::to_string(unused) + " is 1; expected 0");
  SpecBytes damaged = good;
  damaged[40] ^= std::byte{1};
  EXPECT_THAT(refusal(decode_spec(damaged)), HasSubstr("spec bytes: checksum is "));
}

TEST(SpecBytes, PacketsNeedTheirLength) {
  const CodeSpec spec = spec_of({.family = CodeFamily::cauchy,
                                 .layout = Layout::packets,
                                 .data_shards = 3,
                                 .parity_shards = 2});
  EXPECT_EQ(refusal(decode_spec(changed(*encode_spec(spec), 28, std::uint32_t{0}))),
            "spec bytes: packet_bytes is 0; expected 512");
}

TEST(SpecBytes, OnlyResolvedSpecsAreEncoded) {
  CodeSpec spec{.data_shards = 10, .parity_shards = 4};
  EXPECT_EQ(refusal(encode_spec(spec)),
            "family is default; expected a resolved one; pass the spec of a codec");
  spec.family = CodeFamily::hybrid;
  EXPECT_EQ(refusal(encode_spec(spec)), "polynomial is 0; expected 285; pass the spec of a codec");
  spec.polynomial = 0x11D;
  EXPECT_EQ(refusal(encode_spec(spec)),
            "matrix_hash is 0; expected the hash of the code; pass the spec of a codec");
  spec.matrix_hash = 1;
  EXPECT_TRUE(encode_spec(spec));
  spec.data_shards = 65536 + 10;  // would be 10 in two bytes
  EXPECT_EQ(encode_spec(spec).error().code, ErrorCode::invalid_argument);
}

// Custom codes keep their rows elsewhere; the hash tells whether they are the right ones.
TEST(SpecBytes, CustomCodesHaveTheHashOfTheirRows) {
  const std::vector<std::uint16_t> rows = {1, 1, 1, 1, 2, 3};
  const std::vector<std::uint16_t> others = {1, 1, 1, 1, 2, 4};
  const CodeSpec spec{.family = CodeFamily::custom, .data_shards = 3, .parity_shards = 2};
  const Codec codec = *Codec::create_from_matrix(spec, rows);
  const auto again = decode_spec(*encode_spec(codec.spec()));
  ASSERT_TRUE(again);
  EXPECT_EQ(Codec::create_from_matrix(*again, rows)->spec(), codec.spec());
  EXPECT_EQ(Codec::create_from_matrix(*again, others).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace calpe
