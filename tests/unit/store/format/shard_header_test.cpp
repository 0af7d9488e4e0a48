// SPDX-License-Identifier: Apache-2.0
// Headers: round trip, and refusal of everything else.
#include "store/format/shard_header.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "base/little_endian.hpp"
#include "base/uuid.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/geometry.hpp"
#include "support/sample_header.hpp"

namespace calpe::store {
namespace {

// Sets a wrong field and fixes the checksum.
template <class T>
HeaderBytes patched(HeaderBytes bytes, std::size_t at, T value) {
  store_little(bytes.data() + at, value);
  const std::uint64_t checksum = plain_checksum(std::span(bytes).first(header_bytes - 8));
  store_little(bytes.data() + header_bytes - 8, checksum);
  return bytes;
}

void expect_refused(const HeaderBytes& bytes, const std::string& field) {
  const auto parsed = parse_header(bytes);
  ASSERT_FALSE(parsed.has_value()) << field;
  EXPECT_EQ(parsed.error().code, ErrorCode::corrupt);
  EXPECT_NE(parsed.error().message.find("header: " + field), std::string::npos)
      << parsed.error().message << "; expected " << field;
}

std::string to_hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes) {
    constexpr const char* digits = "0123456789abcdef";
    out += digits[std::to_integer<unsigned>(byte) >> 4U];
    out += digits[std::to_integer<unsigned>(byte) & 15U];
  }
  return out;
}

TEST(ShardHeader, RoundTrip) {
  std::vector<ShardHeader> headers(9, sample_header());
  headers[1].name.clear();
  headers[2].name = std::string(255, '\xFF');
  headers[3].root_kind = RootKind::sha256;
  headers[3].shard_root[0] = headers[3].set_root[31] = std::byte{1};
  headers[4] = headers[3];
  headers[4].root_kind = RootKind::hmac;
  headers[4].hmac[5] = std::byte{7};
  headers[4].root_path[0][0] = headers[4].root_path[3][31] = std::byte{8};
  headers[5].stripe_count = 0;
  headers[5].content_bytes = headers[5].manifest_bytes = headers[5].manifest_offset = 0;
  headers[6].spec.family = CodeFamily::lrc;
  headers[6].spec.local_groups = 2;
  headers[7].kind = SetKind::originals;
  headers[7].shard_index = static_cast<ShardIndex>(headers[7].spec.data_shards);
  headers[7].manifest_offset = geometry_of(headers[7]).body_end();
  headers[8] = headers[7];
  headers[8].version = header_version_digests;
  for (const ShardHeader& header : headers) {
    const auto parsed = parse_header(to_bytes(header));
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    EXPECT_EQ(*parsed, header);
  }
}

TEST(ShardHeader, OriginalsHaveNoRootsAndNamesAreLimited) {
  ShardHeader header = sample_header();
  header.kind = SetKind::originals;
  header.root_kind = RootKind::sha256;
  header.shard_index = static_cast<ShardIndex>(header.spec.data_shards);
  header.manifest_offset = geometry_of(header).body_end();
  const auto parsed = parse_header(to_bytes(header));
  ASSERT_FALSE(parsed.has_value());
  EXPECT_NE(parsed.error().message.find("root kind is 1; expected 0 with kept originals"),
            std::string::npos)
      << parsed.error().message;
  EXPECT_TRUE(check_set_name(std::string(255, 'n')).has_value());
  EXPECT_FALSE(check_set_name(std::string(256, 'n')).has_value());
}

TEST(ShardHeader, GoldenBytes) {
  const HeaderBytes bytes = to_bytes(sample_header());
  EXPECT_EQ(to_hex(std::span(bytes).first(216)),
            "63616c70652d7331"  // calpe-s1
            "0100000000100000"  // version, header bytes
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
            "0300000000000000"  // generation
            "0b00"              // shard
            "0000"              // kinds
            "00000100"          // block bytes
            "0500000000000000"  // stripes
            "d204280000000000"  // content bytes
            "6e04280000000000"  // manifest offset
            "6400000000000000"  // manifest bytes
            "03010a0004000800"  // family, layout, k, m, word bits
            "1d01000000000000"  // polynomial, packet bytes
            "0000000000000000"  // local groups
            "8877665544332211"  // matrix hash
            "0000000000000000000000000000000000000000000000000000000000000000"
            "0000000000000000000000000000000000000000000000000000000000000000"
            "0000000000000000000000000000000000000000000000000000000000000000"
            "0600"
            "70686f746f73");
  for (std::size_t i = 216; i < header_bytes - 8; ++i) {
    ASSERT_EQ(bytes[i], std::byte{0}) << i;
  }
  EXPECT_EQ(to_hex(std::span(bytes).last(8)), "c20f8784792d1945");
}

TEST(ShardHeader, EveryFlippedBitIsRefused) {
  HeaderBytes bytes = to_bytes(sample_header());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      bytes[at] ^= std::byte{1} << bit;
      const auto parsed = parse_header(bytes);
      ASSERT_FALSE(parsed.has_value()) << "byte " << at;
      ASSERT_EQ(parsed.error().code, ErrorCode::corrupt);
      bytes[at] ^= std::byte{1} << bit;
    }
  }
  EXPECT_TRUE(parse_header(bytes).has_value());
}

// Even with a valid checksum, nothing can be hidden in unused bytes.
TEST(ShardHeader, EveryUnusedByteIsZero) {
  const HeaderBytes good = to_bytes(sample_header());
  std::vector<std::size_t> unused = {87, 98, 99, 100, 101, 102, 103};
  for (std::size_t at = 216; at < header_bytes - 8; ++at) {
    if (at < 480 || at >= 736) unused.push_back(at);  // the path of the root
  }
  for (const std::size_t at : unused) {
    expect_refused(patched(good, at, std::uint8_t{1}), "byte " + std::to_string(at) + " is 1");
  }
}

TEST(ShardHeader, ANewerVersionIsToldFromDamage) {
  const HeaderBytes good = to_bytes(sample_header());
  EXPECT_EQ(newer_version(good), std::nullopt);
  EXPECT_EQ(newer_version(patched(good, 8, std::uint32_t{0})), std::nullopt);
  EXPECT_EQ(newer_version(patched(good, 8, std::uint32_t{3})), 3U);
  EXPECT_EQ(newer_version(patched(patched(good, 8, std::uint32_t{3}), 0, std::uint8_t{0})),
            std::nullopt);
  HeaderBytes damaged = good;
  damaged[11] ^= std::byte{0x80};
  EXPECT_EQ(newer_version(damaged), std::nullopt);
}

TEST(ShardHeader, EveryFieldOutOfRangeIsNamed) {
  const HeaderBytes good = to_bytes(sample_header());
  const auto u8 = [&](std::size_t at, std::uint8_t value, const char* field) {
    expect_refused(patched(good, at, value), field);
  };
  const auto u16 = [&](std::size_t at, std::uint16_t value, const char* field) {
    expect_refused(patched(good, at, value), field);
  };
  const auto u32 = [&](std::size_t at, std::uint32_t value, const char* field) {
    expect_refused(patched(good, at, value), field);
  };
  const auto u64 = [&](std::size_t at, std::uint64_t value, const char* field) {
    expect_refused(patched(good, at, value), field);
  };
  u8(7, '2', "magic");
  u32(8, 0, "version");
  u32(8, 2, "version is 2; expected 1");  // only for originals
  u32(8, 3, "version");
  u32(12, 8192, "header bytes");
  u64(32, 0, "generation");
  u16(40, 14, "shard index");
  u16(40, 65535, "shard index");
  u8(42, 2, "kind");
  u8(43, 3, "root kind");
  u32(44, 0, "block bytes");
  u32(44, 32, "block bytes");
  u32(44, 65537, "block bytes");
  u32(44, (1U << 24U) + 64, "block bytes");
  u32(44, 4793536, "block bytes is 4793536; expected at most 4793490 with 14 shards");
  u64(48, 4, "content bytes");
  u64(48, 6, "content bytes");
  u64(48, 0, "content bytes");
  u64(56, 4 * 10 * 65536, "content bytes");
  u64(56, 5 * 10 * 65536 + 1, "content bytes");
  u64(64, 0, "manifest offset");
  u64(64, sample_header().manifest_offset + 1, "manifest offset");
  u64(72, (std::uint64_t{1} << 32U) + 1, "manifest bytes");
  u64(72, sample_header().content_bytes + 1, "manifest bytes");
  u8(80, 0, "code family");
  u8(80, 14, "code family");
  u8(80, 255, "code family");
  u8(81, 0, "layout");
  u8(81, 2, "layout");
  u16(82, 0, "k");
  u16(82, 253, "m is 4; expected 1 .. 3");
  u16(82, 256, "k");
  u16(84, 0, "m");
  u16(84, 247, "m");
  u8(86, 4, "word bits");
  u32(88, 0, "polynomial");
  u32(88, 0x200, "polynomial");
  u32(92, 512, "packet bytes");
  u16(96, 1, "local groups");
  u64(104, 0, "matrix hash");
  u8(112, 1, "root");
  u8(144, 1, "root");
  u8(176, 1, "HMAC");
  u8(480, 1, "path of the root has a digest at level 0; expected 0 levels");
  u8(735, 1, "path of the root has a digest at level 7; expected 0 levels");
  expect_refused(patched(patched(good, 43, std::uint8_t{1}), 480 + 4 * 32, std::uint8_t{1}),
                 "path of the root has a digest at level 4; expected 4 levels");
  u16(208, 256, "bytes of the name");
  u16(208, 65535, "bytes of the name");
  u16(208, 7, "name");  // a zero byte in it
  u8(212, '/', "name");
  u16(208, 5, "byte 215");
  expect_refused(patched(patched(good, 210, std::uint64_t{0x2E2E}), 208, std::uint16_t{2}), "name");
  expect_refused(patched(patched(good, 80, std::uint8_t{13}), 96, std::uint16_t{5}),
                 "local groups");
  expect_refused(patched(good, 80, std::uint8_t{13}), "local groups");
}

// The largest numbers, alone and combined, are refused by name even if sums wrap around.
TEST(ShardHeader, HugeSizesAreRefused) {
  const HeaderBytes good = to_bytes(sample_header());
  constexpr std::uint64_t all = ~std::uint64_t{0};
  std::vector<std::uint64_t> huge = {all,         all - 1,      all / 2,
                                     all / 2 + 1, all / 655360, all / 655360 + 1};
  for (unsigned bit = 40; bit < 64; ++bit) {
    huge.push_back((std::uint64_t{1} << bit) - 1);
    huge.push_back(std::uint64_t{1} << bit);
    huge.push_back((std::uint64_t{1} << bit) / 655360);
  }
  for (const std::uint64_t value : huge) {
    for (const std::size_t at : {48U, 56U, 64U, 72U}) {
      EXPECT_FALSE(parse_header(patched(good, at, value)).has_value()) << at << " " << value;
    }
    for (const std::uint64_t other : huge) {
      HeaderBytes bytes = patched(patched(good, 48, value), 56, other);
      const auto parsed = parse_header(patched(bytes, 64, other - 100));
      // Accepted headers are consistent, within the limits and do not overflow later.
      if (parsed) {
        EXPECT_LE(parsed->stripe_count, capacity_max / 655360);
        EXPECT_GT(shard_file_bytes(*parsed), parsed->stripe_count * 65536);
      }
    }
  }
}

TEST(ShardHeader, LargestSetHasNoOverflow) {
  for (const std::uint16_t k : std::vector<std::uint16_t>{1, 2, 200, 255}) {
    const auto largest = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(block_bytes_max, stripe_bytes_max / (k + 1U) / 64 * 64));
    for (const std::uint32_t block : {block_bytes_min, largest}) {
      ShardHeader header = sample_header();
      header.kind = SetKind::originals;
      header.shard_index = k;
      header.spec.data_shards = k;
      header.spec.parity_shards = 1;
      header.block_bytes = block;
      header.stripe_count = capacity_max / (std::uint64_t{k} * block);
      header.content_bytes = header.stripe_count * k * block;
      header.manifest_bytes = manifest_bytes_max;
      header.manifest_offset = geometry_of(header).body_end();
      const auto parsed = parse_header(to_bytes(header));
      ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
      EXPECT_LT(shard_file_bytes(*parsed), std::uint64_t{1} << 63U);
      EXPECT_GT(shard_file_bytes(*parsed), header.stripe_count * block);
      header.stripe_count += 1;
      expect_refused(to_bytes(header), "stripes");
    }
  }
}

TEST(ShardHeader, GarbageIsRefused) {
  std::mt19937_64 random(8);
  for (unsigned round = 0; round < 2000; ++round) {
    HeaderBytes bytes = to_bytes(sample_header());
    // Half of them have a valid magic, version and checksum.
    const std::size_t from = round % 2 == 0 ? 0 : 16;
    for (std::size_t at = from; at < header_bytes; ++at) {
      bytes[at] = static_cast<std::byte>(random());
    }
    if (from != 0) bytes = patched(bytes, 208, std::uint16_t{0});
    EXPECT_FALSE(parse_header(bytes).has_value());
  }
  const HeaderBytes good = to_bytes(sample_header());
  for (const std::size_t bytes : {0U, 1U, 8U, 4095U}) {
    EXPECT_FALSE(parse_header(std::span(good).first(bytes)).has_value());
  }
}

TEST(ShardHeader, SameSet) {
  const ShardHeader a = sample_header();
  ShardHeader b = a;
  b.shard_index = 0;
  b.shard_root[0] = std::byte{1};
  b.root_path[7][0] = std::byte{1};
  EXPECT_TRUE(is_same_set(a, b));
  const std::vector<std::function<void(ShardHeader&)>> changes = {
      [](ShardHeader& h) { h.uuid[15] ^= std::byte{1}; },
      [](ShardHeader& h) { h.generation += 1; },
      [](ShardHeader& h) { h.content_bytes += 1; },
      [](ShardHeader& h) { h.spec.matrix_hash += 1; },
      [](ShardHeader& h) { h.set_root[0] = std::byte{1}; },
      [](ShardHeader& h) { h.name = "photo"; }};
  for (const auto& change : changes) {
    ShardHeader c = b;
    change(c);
    EXPECT_FALSE(is_same_set(a, c));
  }
}

TEST(Generation, FollowsTheClockAndIsAlwaysNewer) {
  const std::uint64_t millisecond = 4'000;  // quarters of a microsecond
  const std::uint64_t older = next_generation(0) - millisecond;
  const std::uint64_t next = next_generation(older);
  EXPECT_GT(next, older);
  EXPECT_LE(next, next_generation(0) + 3) << "ahead of the clock";
  const std::uint64_t ahead = next + 1'000 * millisecond;
  EXPECT_GT(next_generation(ahead), ahead);
}

TEST(Uuid, TextAndRandomness) {
  EXPECT_EQ(uuid_text(sample_header().uuid), "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
  Uuid varies = {};
  const Uuid first = random_uuid();
  for (unsigned round = 0; round < 64; ++round) {
    const Uuid other = random_uuid();
    EXPECT_NE(other, first);
    EXPECT_EQ(uuid_text(other)[14], '4');  // version
    for (std::size_t i = 0; i < other.size(); ++i) {
      varies[i] |= other[i] ^ first[i];
    }
  }
  EXPECT_EQ(uuid_text(varies), "ffffffff-ffff-0fff-3fff-ffffffffffff");
}

}  // namespace
}  // namespace calpe::store
