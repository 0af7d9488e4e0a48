// SPDX-License-Identifier: Apache-2.0
// Forged structures of an array with valid checksums.
#include <cstring>
#include <gtest/gtest.h>

#include "array/array.hpp"
#include "array/format/index.hpp"
#include "array/format/superblock.hpp"
#include "array/state/log_scan.hpp"
#include "support/memory_members.hpp"

namespace calpe::array {
namespace {

constexpr Shape shape = {.rotated = 3, .members_max = 3};

Settings small_settings() {
  Settings settings;
  settings.spec.data_shards = 2;
  settings.spec.parity_shards = 1;
  settings.spec.matrix_hash = 1;
  settings.chunk_bytes = 8192;
  settings.bytes = std::uint64_t{4} * 2 * 8192;
  settings.log_bytes = 24576;
  settings.spare_slots = 2;
  return settings;
}

Superblock small_superblock() {
  Superblock superblock;
  superblock.epoch = 1;
  superblock.role = 0;
  superblock.settings = small_settings();
  superblock.shape = shape;
  superblock.roles.resize(3);
  for (std::size_t role = 0; role < 3; ++role)
    superblock.roles[role].uuid[0] = static_cast<std::byte>(role + 1);
  return superblock;
}

std::string refusal(const Superblock& superblock) {
  const auto parsed = parse_superblock(to_bytes(superblock));
  return parsed ? "" : parsed.error().message;
}

TEST(ArrayForged, SuperblockWhoseLogHasNoRoomForABatch) {
  Superblock superblock = small_superblock();
  EXPECT_EQ(refusal(superblock), "");
  superblock.settings.log_bytes = 20480;
  EXPECT_EQ(refusal(superblock), "superblock: log bytes is 20480; expected at least 24576");
}

TEST(ArrayForged, SuperblockThatGivesOneMemberTwoRoles) {
  Superblock superblock = small_superblock();
  superblock.roles[2].uuid = superblock.roles[0].uuid;
  EXPECT_EQ(refusal(superblock), "superblock: members 0 and 2 have the same uuid");
}

TEST(ArrayForged, IndexWithSlotsOutOfRangeOrTakenTwice) {
  const MemberLayout layout = layout_of(small_settings(), shape);
  Index index(layout);
  EXPECT_TRUE(index.has_sound_slots());
  index.set_slot(0, 5);
  index.set_slot(2, 0);
  EXPECT_TRUE(index.has_sound_slots());
  index.set_slot(3, 5);
  EXPECT_FALSE(index.has_sound_slots());
  index.set_slot(3, 6);
  EXPECT_FALSE(index.has_sound_slots());
  index.set_slot(3, no_slot);
  EXPECT_TRUE(index.has_sound_slots());
}

// Writes a header with these records and parses it.
bool is_accepted(std::vector<LogRecord> records) {
  const MemberLayout layout = layout_of(small_settings(), shape);
  BatchHeader header;
  header.name = {.generation = 1, .sequence = 1};
  header.roles = 7;
  header.records = std::move(records);
  std::vector<std::byte> bytes(2 * block_bytes);
  bytes.resize(write_header(header, bytes));
  return parse_header(bytes, header.name, layout).has_value();
}

TEST(ArrayForged, HeadersThatPointOutsideTheirPart) {
  constexpr std::array<std::uint64_t, 2> first = {11, 0};
  constexpr std::array<std::uint64_t, 2> second = {12, 1};
  constexpr std::array<std::uint64_t, 2> third = {12, 2};
  const auto blocks = [](std::uint16_t column, std::uint32_t slot,
                         const std::array<std::uint64_t, 2>& words) {
    return LogRecord{RecordKind::blocks, column, slot, 0, 1, words};
  };
  EXPECT_TRUE(is_accepted({blocks(0, 1, first), blocks(1, 1, second)}));
  EXPECT_TRUE(is_accepted({blocks(0, 1, second), blocks(1, 1, first)}));
  EXPECT_FALSE(is_accepted({blocks(0, 1, second)}));
  EXPECT_FALSE(is_accepted({blocks(0, 1, first), blocks(1, 1, third)}));
  EXPECT_FALSE(is_accepted({blocks(0, 1, first), blocks(1, 1, first)}));
  // A column twice, which is valid only after a move.
  EXPECT_FALSE(is_accepted({blocks(0, 1, first), blocks(0, 2, second)}));
  const LogRecord zeros = {RecordKind::zeros, 0, 2, 0, 0, {}};
  EXPECT_TRUE(is_accepted({blocks(0, 1, first), zeros, blocks(0, 2, second)}));
  // More blocks than a batch may have.
  std::vector<std::array<std::uint64_t, 2>> words;
  for (std::uint64_t i = 0; i < 5; ++i)
    words.push_back({11, i});
  std::vector<LogRecord> many;
  for (std::uint16_t i = 0; i < 5; ++i)
    many.push_back({RecordKind::blocks, static_cast<std::uint16_t>(i % 2), 1,
                    static_cast<std::uint64_t>(i / 2), 1, words[i]});
  EXPECT_FALSE(is_accepted(many));
  many.pop_back();
  EXPECT_TRUE(is_accepted(many));
}

TEST(ArrayForged, RecordsOfWholeChunksHaveColumnZero) {
  constexpr std::array<std::uint64_t, 2> words = {11, 12};
  for (const RecordKind kind : {RecordKind::whole, RecordKind::chunk}) {
    EXPECT_TRUE(is_accepted({{kind, 0, 5, 0, 2, words}}));
    EXPECT_FALSE(is_accepted({{kind, 1, 5, 0, 2, words}}));
  }
  EXPECT_TRUE(is_accepted({{RecordKind::hole, 0, no_slot, 0, 0, {}}}));
  EXPECT_FALSE(is_accepted({{RecordKind::hole, 1, no_slot, 0, 0, {}}}));
  EXPECT_FALSE(is_accepted({{RecordKind::zeros, 1, 5, 0, 0, {}}}));
}

// The part of member 0 in the second batch would not fit into its log.
TEST(ArrayForged, IgnoresABatchThatEndsPastTheLog) {
  const MemberLayout layout = layout_of(small_settings(), shape);
  MemoryMembers members(3, layout.member_bytes);
  Roster roster(members, layout);
  for (unsigned role = 0; role < 3; ++role) {
    roster.set_place(role, role);
    roster.set(role, {});
  }
  const BlockCheck check(Uuid{});
  const std::vector<std::byte> zeros(block_bytes);
  std::uint64_t at_of_0 = 0;
  for (std::uint64_t sequence = 1; sequence <= 2; ++sequence) {
    BatchHeader header;
    header.name = {.generation = 1, .sequence = sequence};
    header.roles = 7;
    std::array<std::array<std::uint64_t, 2>, 3> words = {};
    for (std::uint16_t i = 0; i < 3; ++i) {
      const std::uint16_t column = i % 2;
      words[i] = {check.of({0, i / 2U, 1, column}, zeros), i};
      header.records.push_back({RecordKind::blocks, column, 1, i / 2U, 1, words[i]});
    }
    std::vector<std::byte> bytes(2 * block_bytes);
    bytes.resize(write_header(header, bytes));
    for (unsigned role = 0; role < 3; ++role) {
      const std::uint64_t at = log_at + (role == 0 ? at_of_0 : (sequence - 1) * block_bytes);
      std::memcpy(members.disks[role].now.data() + at, bytes.data(), bytes.size());
    }
    for (std::uint64_t i = 1; i <= 3; ++i)
      std::memset(members.disks[0].now.data() + log_at + at_of_0 + i * block_bytes, 0, block_bytes);
    at_of_0 += 4 * block_bytes;
  }
  ASSERT_GT(at_of_0, layout.log_bytes);
  LogScan scan(layout, roster, check, {.generation = 1});
  EXPECT_EQ(scan.run().size(), 1U);
}

// Does not allocate memory for the claims of a superblock before the sizes of members are checked.
TEST(ArrayForged, SuperblockThatClaimsMoreThanItsMembersHave) {
  MemoryMembers members(3, 1U << 20U);
  Settings settings = small_settings();
  settings.spec.matrix_hash = 0;
  ASSERT_TRUE(create(members, settings, Uuid{std::byte{1}}));
  const auto forge = [&](const auto& change) {
    for (MemoryMembers::Disk& disk : members.disks) {
      auto superblock = parse_superblock(std::span(disk.now).first(block_bytes));
      ASSERT_TRUE(superblock);
      change(*superblock);
      const SuperblockBytes bytes = to_bytes(*superblock);
      std::memcpy(disk.now.data(), bytes.data(), bytes.size());
    }
  };
  forge([](Superblock& superblock) { superblock.settings.bytes = std::uint64_t{1} << 44U; });
  auto opened = Array::open(members);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::unrecoverable);
  EXPECT_NE(opened.error().message.find("it has 1048576 bytes; expected at least"),
            std::string::npos);
  // None of the listed members is present.
  forge([](Superblock& superblock) {
    for (RoleRecord& role : superblock.roles)
      role.uuid[15] ^= std::byte{1};
  });
  opened = Array::open(members);
  ASSERT_FALSE(opened);
  EXPECT_TRUE(
      opened.error().message.starts_with("none of the members that the newest superblock lists was "
                                         "found; place 0: it has 1048576 bytes"))
      << opened.error().message;
}

}  // namespace
}  // namespace calpe::array
