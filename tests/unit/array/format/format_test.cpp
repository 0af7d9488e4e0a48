// SPDX-License-Identifier: Apache-2.0
// The examples of docs/array-format.md, and inputs that a reader must refuse.
#include <gtest/gtest.h>

#include "array/format/block_check.hpp"
#include "array/format/log_format.hpp"
#include "array/format/superblock.hpp"
#include "array/state/codec_cache.hpp"

namespace calpe::array {
namespace {

Uuid counting_uuid() {
  Uuid uuid = {};
  for (std::size_t i = 0; i < uuid.size(); ++i)
    uuid[i] = static_cast<std::byte>(i);
  return uuid;
}

Settings settings_of(std::uint32_t chunk_bytes, std::uint64_t bytes, std::uint64_t log_bytes,
                     std::uint32_t spare_slots) {
  Settings settings;
  settings.spec.data_shards = 4;
  settings.spec.parity_shards = 2;
  settings.chunk_bytes = chunk_bytes;
  settings.bytes = bytes;
  settings.log_bytes = log_bytes;
  settings.spare_slots = spare_slots;
  return settings;
}

constexpr Shape shape = {.rotated = 6, .members_max = 10};

TEST(ArrayFormat, LayoutMatchesTheDocument) {
  const MemberLayout large = layout_of(settings_of(65536, 1U << 30U, 32U << 20U, 128), shape);
  EXPECT_EQ(large.stripes, 4096U);
  EXPECT_EQ(large.slots, 4224U);
  EXPECT_EQ(large.table_pages, 132U);
  EXPECT_EQ(large.missed_at, 16384U);
  EXPECT_EQ(large.digests_at, 20480U);
  EXPECT_EQ(large.index_pages, 8U);
  EXPECT_EQ(large.index_at, 33562624U);
  EXPECT_EQ(large.table_at, 33628160U);
  EXPECT_EQ(large.slots_at, 34734080U);
  EXPECT_EQ(large.member_bytes, 311558144U);
  const MemberLayout small =
      layout_of(settings_of(8192, std::uint64_t{12} * 4 * 8192, 65536, 3), shape);
  EXPECT_EQ(small.slots, 15U);
  EXPECT_EQ(small.index_at, 73728U);
  EXPECT_EQ(small.table_at, 98304U);
  EXPECT_EQ(small.slots_at, 106496U);
  EXPECT_EQ(small.member_bytes, 229376U);
}

TEST(ArrayFormat, ShardsRotateOverRoles) {
  MemberLayout layout = layout_of(settings_of(8192, 393216, 65536, 3), shape);
  layout.parity = 3;  // one was added later
  for (std::uint64_t stripe = 0; stripe < 20; ++stripe) {
    for (unsigned role = 0; role < 7; ++role) {
      const unsigned shard = layout.shard_of(role, stripe);
      EXPECT_EQ(shard, role == 6 ? 6 : (role + stripe) % 6);
      EXPECT_EQ(layout.role_of(shard, stripe), role);
    }
  }
}

TEST(ArrayFormat, EntriesMatchTheDocument) {
  const BlockCheck check(counting_uuid());
  const BlockPlace place{.role = 2, .stripe = 5, .slot = 7, .column = 1};
  EXPECT_EQ(check.plain_zeros(), 0x93d76fe148c689baU);
  EXPECT_EQ(check.of_zeros(place), 0x7b0c06cbfb3351e8U);
  std::vector<std::byte> block(block_bytes);
  for (std::size_t i = 0; i < block.size(); ++i)
    block[i] = static_cast<std::byte>(i);
  EXPECT_EQ(store::plain_checksum(block), 0xeb4b7c3707879151U);
  EXPECT_EQ(check.of(place, block), 0x0390151db4724903U);
  EXPECT_EQ(check.plain(place, 0x0390151db4724903U), 0xeb4b7c3707879151U);
  for (const BlockPlace& other : {BlockPlace{3, 5, 7, 1}, BlockPlace{2, 6, 7, 1},
                                  BlockPlace{2, 5, 8, 1}, BlockPlace{2, 5, 7, 0}}) {
    EXPECT_NE(check.of(other, block), check.of(place, block));
  }
}

TEST(ArrayFormat, HeaderMatchesTheDocumentAndNothingElseParses) {
  const MemberLayout layout = layout_of(settings_of(8192, 393216, 65536, 3), shape);
  const std::vector<std::uint64_t> words = {0x1111, 0, 0x2222, 0, 0x3333, 0};
  BatchHeader header;
  header.name = {counting_uuid(), 9, 1};
  header.roles = 0x32;
  header.records.push_back({RecordKind::blocks, 1, 7, 5, 0x32, words});
  std::vector<std::byte> bytes(8192, std::byte{0xFF});
  ASSERT_EQ(write_header(header, bytes), 4096U);
  bytes.resize(4096);
  const unsigned char checksum[] = {0x8a, 0xab, 0xa6, 0x11, 0xbf, 0xda, 0xe3, 0xc0};
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(std::to_integer<unsigned>(bytes[8 + i]), checksum[i]);
  const auto parsed = parse_header(bytes, header.name, layout);
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->records.size(), 1U);
  EXPECT_EQ(parsed->name.sequence, 1U);
  EXPECT_EQ(parsed->records[0].words_of(4)[0], 0x2222U);
  EXPECT_EQ(parsed->part_bytes(4), 8192U);
  EXPECT_EQ(parsed->part_bytes(0), 4096U);
  EXPECT_FALSE(parse_header(bytes, {counting_uuid(), 10, 1}, layout));
  EXPECT_FALSE(parse_header(bytes, {Uuid{}, 9, 1}, layout));
  for (std::size_t at = 0; at < 160; ++at) {
    bytes[at] ^= std::byte{4};
    EXPECT_FALSE(parse_header(bytes, header.name, layout)) << at;
    bytes[at] ^= std::byte{4};
  }
}

TEST(ArrayFormat, SuperblockRoundTripsAndEveryBitIsChecked) {
  Superblock superblock;
  superblock.array = counting_uuid();
  superblock.epoch = 12;
  superblock.previous = 10;
  superblock.generation = 5;
  superblock.role = 3;
  superblock.index_copy = 1;
  superblock.index_root = 77;
  superblock.settings = settings_of(8192, 393216, 65536, 3);
  const auto codec = codec_for(superblock.settings.spec);
  ASSERT_TRUE(codec);
  superblock.settings.spec = codec->spec();
  superblock.shape = shape;
  superblock.roles.resize(6);
  for (std::size_t role = 0; role < 6; ++role)
    superblock.roles[role].uuid[3] = static_cast<std::byte>(role);
  superblock.roles[2].state = MemberState::rebuilding;
  superblock.roles[2].by_missed = true;
  superblock.roles[2].watermark = 9;
  superblock.roles[2].slots_done = 11;
  superblock.roles[4].state = MemberState::out;
  superblock.roles[4].on_request = true;
  SuperblockBytes bytes = to_bytes(superblock);
  const auto parsed = parse_superblock(bytes);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, superblock);
  EXPECT_EQ(parsed->roles, superblock.roles);
  EXPECT_EQ(bytes[546 + 48 * 4], std::byte{1});  // docs/array-format.md
  EXPECT_EQ(bytes[548 + 48 * 2], std::byte{12});
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    bytes[at] ^= std::byte{1};
    EXPECT_FALSE(parse_superblock(bytes)) << at;
    bytes[at] ^= std::byte{1};
  }
}

TEST(ArrayFormat, RefusesSettingsThatDoNotFit) {
  const auto refusal = [](const Settings& settings, std::uint64_t member_bytes) {
    const auto settled = settle(settings, shape, member_bytes);
    return settled ? "" : settled.error().message;
  };
  EXPECT_EQ(refusal(settings_of(8192, 393216, 65536, 3), 1U << 20U), "");
  EXPECT_EQ(
      refusal(settings_of(8192, 393216, 65536, 3), 200000),
      "the smallest member has 200000 bytes; expected at least 229376 for a capacity of 393216");
  EXPECT_EQ(refusal(settings_of(5000, 393216, 65536, 3), 1U << 20U),
            "chunk bytes is 5000; expected a multiple of 4096 up to 1048576");
  EXPECT_EQ(refusal(settings_of(8192, 393216, 16384, 3), 1U << 20U),
            "log bytes is 16384; expected at least 24576 for chunks of 8192");
  EXPECT_EQ(refusal(settings_of(8192, 393216, 65536, 1), 1U << 20U),
            "spare slots is 1; expected 2 .. 1048576");
  const auto largest = settle(settings_of(65536, 0, 0, 0), shape, 1U << 30U);
  ASSERT_TRUE(largest);
  EXPECT_LE(layout_of(*largest, shape).member_bytes, 1U << 30U);
  EXPECT_GT(layout_of(*largest, shape).member_bytes, (1U << 30U) - (1U << 20U));
}

}  // namespace
}  // namespace calpe::array
