// SPDX-License-Identifier: Apache-2.0
#include "array/array.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <iostream>
#include <random>
#include <utility>

#include "array/format/layout.hpp"
#include "support/memory_members.hpp"
#include "support/random_choice.hpp"

namespace calpe::array {
namespace {

constexpr std::uint64_t capacity = 12 * 4 * 8192;

Uuid test_uuid() {
  Uuid uuid = {};
  uuid[0] = std::byte{7};
  return uuid;
}

Settings small_settings(unsigned data = 4, unsigned parity = 2) {
  Settings settings;
  settings.spec.data_shards = static_cast<std::uint16_t>(data);
  settings.spec.parity_shards = static_cast<std::uint16_t>(parity);
  settings.chunk_bytes = 8192;
  settings.bytes = std::uint64_t{12} * data * 8192;
  settings.log_bytes = 65536;
  settings.spare_slots = 3;
  return settings;
}

using conformance::random_bytes;

std::unique_ptr<Array> open(Members& members) {
  auto array = Array::open(members);
  EXPECT_TRUE(array) << array.error().message;
  return array ? *std::move(array) : nullptr;
}

std::vector<std::byte> read_all(Array& array) {
  std::vector<std::byte> bytes(array.bytes());
  const Status status = array.read(0, bytes);
  EXPECT_TRUE(status) << status.error().message;
  return bytes;
}

TEST(Array, IsZerosAfterCreation) {
  MemoryMembers members(6, 1 << 20);
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  const auto array = open(members);
  EXPECT_EQ(array->bytes(), capacity);
  EXPECT_EQ(read_all(*array), std::vector<std::byte>(capacity));
  const auto extents = array->extents(0, capacity);
  ASSERT_TRUE(extents);
  EXPECT_EQ(*extents, (std::vector<Extent>{{0, capacity, false}}));
}

TEST(Array, ReadsBackWhatWasWritten) {
  MemoryMembers members(6, 1 << 20);
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  auto array = open(members);
  const auto bytes = random_bytes(capacity, 1);
  ASSERT_TRUE(array->write(0, bytes, Durability::cached));
  EXPECT_EQ(read_all(*array), bytes);
  ASSERT_TRUE(array->flush());
  EXPECT_EQ(read_all(*array), bytes);
  ASSERT_TRUE(array->close());
  array = open(members);
  EXPECT_EQ(read_all(*array), bytes);
  EXPECT_EQ(array->status().stripes_mapped, 12U);
}

TEST(Array, DegradedReadsAndWrites) {
  MemoryMembers members(6, 1 << 20);
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  auto array = open(members);
  auto bytes = random_bytes(capacity, 1);
  ASSERT_TRUE(array->write(0, bytes, Durability::durable));
  members.disks[1].is_failing = true;
  const auto more = random_bytes(20000, 2);
  std::copy(more.begin(), more.end(), bytes.begin() + 5000);
  ASSERT_TRUE(array->write(5000, more, Durability::durable));
  EXPECT_EQ(array->status().now.may_fail, 1U);
  members.disks[4].is_failing = true;
  std::copy(more.begin(), more.end(), bytes.begin() + 70001);
  ASSERT_TRUE(array->write(70001, more, Durability::durable));
  EXPECT_EQ(read_all(*array), bytes);
  array = open(members);
  EXPECT_EQ(read_all(*array), bytes);
  EXPECT_EQ(array->status().now.may_fail, 0U);
}

TEST(Array, WrongBlocksAreRepairedAndTooManyRefused) {
  MemoryMembers members(6, 1 << 20);
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  auto array = open(members);
  const auto bytes = random_bytes(capacity, 1);
  ASSERT_TRUE(array->write(0, bytes, Durability::durable));
  ASSERT_TRUE(array->close());
  array = open(members);
  const auto damage = [&](unsigned member) {
    auto& disk = members.disks[member].now;
    for (std::size_t at = 106496; at < 106496 + 122880; at += 512)
      disk[at] ^= std::byte{1};
  };
  damage(0);
  damage(3);
  EXPECT_EQ(read_all(*array), bytes);
  const auto scrub = array->scrub_step(0, capacity);
  ASSERT_TRUE(scrub) << scrub.error().message;
  EXPECT_EQ(scrub->next, capacity);
  EXPECT_EQ(scrub->columns_contradicting, 0U);
  const auto again = array->scrub_step(0, capacity);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->blocks_wrong, std::vector<std::uint64_t>(6));
  damage(0);
  damage(3);
  damage(5);
  std::vector<std::byte> some(capacity);
  const Status status = array->read(0, some);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::corrupt);
}

// A write after a repair of the same block is newer than the checksum from the repair, even if the
// write joins the record of an earlier write.
TEST(Array, AWriteToABlockThatWasJustRepairedCounts) {
  MemoryMembers members(5, 1 << 20);
  const Settings settings = small_settings(4, 1);
  ASSERT_TRUE(create(members, settings, test_uuid()));
  auto array = open(members);
  auto bytes = random_bytes(capacity, 1);
  ASSERT_TRUE(array->write(0, bytes, Durability::durable));
  ASSERT_TRUE(array->close());
  const MemberLayout layout = layout_of(settings, {.rotated = 5, .members_max = 9});
  auto& disk = members.disks[1].now;
  std::fill(disk.begin() + static_cast<std::ptrdiff_t>(layout.table_at),
            disk.begin() + static_cast<std::ptrdiff_t>(layout.slots_at), std::byte{0});
  array = open(members);
  const auto write = [&](std::size_t offset, std::size_t count) {
    const auto some = random_bytes(count, offset + 2);
    std::copy(some.begin(), some.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    ASSERT_TRUE(array->write(offset, some, Durability::cached));
  };
  write(0, block_bytes);                     // role 0 and parity
  write(settings.chunk_bytes + 1000, 1000);  // role 1, whose checksums are lost
  ASSERT_TRUE(array->flush());
  EXPECT_EQ(array->status().now.members[1].blocks_repaired, 1U);
  EXPECT_EQ(read_all(*array), bytes);
  ASSERT_TRUE(array->scrub_step(0, capacity));  // restores the other checksums of role 1
  ASSERT_TRUE(array->flush());
  members.disks[0].is_failing = true;
  EXPECT_EQ(read_all(*array), bytes);
  array = open(members);
  EXPECT_EQ(read_all(*array), bytes);
}

// If too many logs lack an acknowledged batch, opening reports the loss. It does not return old
// bytes.
TEST(Array, ABatchThatTooManyLogsLackIsAnErrorAndHidesNoLaterOne) {
  MemoryMembers members(6, 1 << 20);
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  auto array = open(members);
  const auto before = random_bytes(capacity, 1);
  ASSERT_TRUE(array->write(0, before, Durability::durable));
  ASSERT_TRUE(array->checkpoint());
  const auto first = random_bytes(4096, 2);
  const auto second = random_bytes(4096, 3);
  ASSERT_TRUE(array->write(0, first, Durability::durable));
  ASSERT_TRUE(array->write(capacity / 2, second, Durability::durable));
  array.reset();
  constexpr std::size_t block_in_log = 8192 + 4096;  // after the first header
  const auto damage = [&](std::span<const unsigned> roles) {
    for (const unsigned role : roles)
      members.disks[role].now[block_in_log] ^= std::byte{1};
  };
  for (MemoryMembers::Disk& disk : members.disks)
    disk.now = disk.durable;
  const auto crashed = members.disks;
  // Stripe 0 has shard r at role r: a data block's batch is with 0, 4 and 5.
  damage(std::array{0U, 4U});
  std::vector<std::byte> read(4096);
  array = open(members);
  ASSERT_NE(array, nullptr);
  ASSERT_TRUE(array->read(0, read));
  EXPECT_EQ(read, first);
  array.reset();
  members.disks = crashed;
  damage(std::array{0U, 4U, 5U});
  array = open(members);
  ASSERT_NE(array, nullptr);
  const Status lost = array->read(0, read);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::corrupt);
  ASSERT_TRUE(array->read(capacity / 2, read));
  EXPECT_EQ(read, second);
}

// Members that lack the last batch of the log get it from those that have it.
TEST(Array, TheLastBatchIsCompletedFromOneLog) {
  MemoryMembers members(6, 1 << 20);
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  auto array = open(members);
  auto bytes = random_bytes(capacity, 1);
  ASSERT_TRUE(array->write(0, bytes, Durability::durable));
  ASSERT_TRUE(array->checkpoint());
  const auto last = random_bytes(4096, 2);
  std::copy(last.begin(), last.end(), bytes.begin());
  ASSERT_TRUE(array->write(0, last, Durability::durable));
  array.reset();
  for (MemoryMembers::Disk& disk : members.disks)
    disk.now = disk.durable;
  const auto crashed = members.disks;
  constexpr std::size_t block_in_log = 8192 + 4096;  // after the header
  // Stripe 0 has shard r at role r: a data block's batch is with 0, 4 and 5.
  for (const auto& [one, other] : {std::pair(0U, 4U), std::pair(0U, 5U), std::pair(4U, 5U)}) {
    members.disks = crashed;
    for (const unsigned role : {one, other})
      members.disks[role].now[block_in_log] ^= std::byte{1};
    array = open(members);
    ASSERT_NE(array, nullptr);
    EXPECT_EQ(array->status().batches_replayed, 1U);
    EXPECT_EQ(read_all(*array), bytes) << one << " and " << other;
    const auto scrub = array->scrub_step(0, capacity);
    ASSERT_TRUE(scrub);
    EXPECT_EQ(scrub->columns_contradicting, 0U);
    array.reset();
  }
}

TEST(Array, SpareIsRebuilt) {
  MemoryMembers members(7, 1 << 20);
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  auto array = open(members);
  auto bytes = random_bytes(capacity, 1);
  ASSERT_TRUE(array->write(0, bytes, Durability::durable));
  ASSERT_TRUE(array->fail(2));
  const auto taken = array->take_spare();
  ASSERT_TRUE(taken && *taken);
  for (;;) {
    const auto progress = array->rebuild_step(8192);
    ASSERT_TRUE(progress) << progress.error().message;
    const auto more = random_bytes(9000, progress->stripes_done);
    const std::size_t at = progress->stripes_done * 20000;
    if (at + 9000 <= capacity) {
      ASSERT_TRUE(array->write(at, more, Durability::cached));
      std::copy(more.begin(), more.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (progress->is_complete) break;
  }
  ASSERT_TRUE(array->flush());
  EXPECT_EQ(array->status().now.may_fail, 2U);
  members.disks[0].is_absent = true;
  members.disks[5].is_absent = true;
  array = open(members);
  EXPECT_EQ(read_all(*array), bytes);
}

TEST(Array, BrieflyAbsentMemberGetsOnlyWhatItMissed) {
  MemoryMembers members(6, 1 << 20);
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  auto array = open(members);
  auto bytes = random_bytes(capacity, 1);
  ASSERT_TRUE(array->write(0, bytes, Durability::durable));
  ASSERT_TRUE(array->close());
  members.disks[3].is_absent = true;
  array = open(members);
  const auto more = random_bytes(4096, 2);
  std::copy(more.begin(), more.end(), bytes.begin() + 8192);
  ASSERT_TRUE(array->write(8192, more, Durability::durable));
  EXPECT_EQ(array->status().stripes_missed, 1U);
  members.disks[3].is_absent = false;
  const Status status = array->readd(3);
  ASSERT_TRUE(status) << status.error().message;
  std::uint64_t written = 0;
  members.on_request = [&](const MemberRequest& request) {
    const bool is_slot = request.offset >= 106496 && request.call == MemberCall::write;
    if (request.member == 3 && is_slot) written += request.bytes.size();
  };
  const auto progress = array->rebuild_step(capacity);
  ASSERT_TRUE(progress && progress->is_complete);
  EXPECT_EQ(written, 8192U);
  EXPECT_EQ(array->status().stripes_missed, 0U);
  members.on_request = {};
  members.disks[0].is_failing = true;
  members.disks[1].is_failing = true;
  EXPECT_EQ(read_all(*array), bytes);
}

TEST(Array, ParityGrows) {
  MemoryMembers members(7, 1 << 20);
  members.disks[6].is_absent = true;
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  auto array = open(members);
  const auto bytes = random_bytes(capacity, 1);
  ASSERT_TRUE(array->write(0, bytes, Durability::durable));
  array.reset();
  members.disks[6].is_absent = false;
  const Status grown = grow_parity(members, 6);
  ASSERT_TRUE(grown) << grown.error().message;
  array = open(members);
  EXPECT_EQ(array->settings().spec.parity_shards, 3U);
  EXPECT_EQ(array->status().now.may_fail, 2U);
  const auto progress = array->rebuild_step(capacity);
  ASSERT_TRUE(progress && progress->is_complete);
  EXPECT_EQ(array->status().now.may_fail, 3U);
  for (const unsigned lost : {0U, 2U, 5U}) {
    ASSERT_TRUE(array->fail(lost));
  }
  EXPECT_EQ(read_all(*array), bytes);
  const Status refused = array->fail(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "3 members are out or rebuilding; at most 3 may be");
}

TEST(Array, ParityDoesNotGrowWhileAMemberIsOut) {
  MemoryMembers members(7, 1 << 20);
  members.disks[6].is_absent = true;
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  auto array = open(members);
  ASSERT_TRUE(array->fail(2));
  array.reset();
  members.disks[6].is_absent = false;
  const std::vector<std::byte> newcomer = members.disks[6].now;
  const Status refused = grow_parity(members, 6);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "1 members are out or rebuilding; all must be live");
  EXPECT_EQ(members.disks[6].now, newcomer);  // unchanged
}

TEST(Array, RefusesMembersThatAreNotOneArray) {
  MemoryMembers members(6, 1 << 20);
  MemoryMembers others(6, 1 << 20);
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  Uuid uuid = test_uuid();
  uuid[1] = std::byte{1};
  ASSERT_TRUE(create(others, small_settings(), uuid));
  const auto refusal = [&] {
    const auto array = Array::open(members);
    return array ? "" : array.error().message;
  };
  const MemoryMembers::Disk mine = members.disks[4];
  members.disks[4] = others.disks[4];
  EXPECT_NE(refusal().find("give the members of one array"), std::string::npos) << refusal();
  members.disks[4] = members.disks[3];
  EXPECT_NE(refusal().find("copies of one member"), std::string::npos) << refusal();
  members.disks[4] = mine;
  std::swap(members.disks[4], members.disks[1]);  // another order
  EXPECT_EQ(refusal(), "");
  for (const unsigned gone : {0U, 1U, 2U}) {
    members.disks[gone].is_absent = true;
  }
  EXPECT_EQ(refusal(),
            "too few members, at most 2 may be out: member 0: it is missing; "
            "member 2: it is missing; member 4: it is missing");
  members.disks[0].is_absent = false;
  members.disks[1].is_absent = false;
  members.disks[0].now.resize(150000);
  EXPECT_EQ(refusal(), "") << "one short member and one missing are out";
  const auto looked = inspect(members);
  ASSERT_TRUE(looked);
  EXPECT_EQ(looked->may_fail, 0U);
  members.disks[1].now.resize(150000);
  EXPECT_EQ(refusal(),
            "too few members, at most 2 may be out: member 0: it left the array earlier and is "
            "missing; member 2: it left the array earlier and is missing; member 4: it is missing; "
            "place 0: it has 150000 bytes; expected at least 229376; place 1: it has 150000 bytes; "
            "expected at least 229376");
}

TEST(Array, StaleMemberIsRefused) {
  MemoryMembers members(6, 1 << 20);
  ASSERT_TRUE(create(members, small_settings(), test_uuid()));
  auto array = open(members);
  ASSERT_TRUE(array->write(0, random_bytes(capacity, 1), Durability::durable));
  ASSERT_TRUE(array->close());
  const MemoryMembers::Disk before = members.disks[2];
  array = open(members);
  const auto bytes = random_bytes(capacity, 2);
  ASSERT_TRUE(array->write(0, bytes, Durability::durable));
  ASSERT_TRUE(array->checkpoint());
  array.reset();
  members.disks[2] = before;  // a snapshot came back
  const auto seen = inspect(members);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->members[2].why, "it is stale");
  array = open(members);
  EXPECT_EQ(read_all(*array), bytes);
  EXPECT_EQ(array->status().now.members[2].state, MemberState::out);
  const Status refused = array->readd(2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "member 2 needs a full rebuild");
  ASSERT_TRUE(array->replace(2, 2));
  const auto progress = array->rebuild_step(capacity);
  ASSERT_TRUE(progress && progress->is_complete);
  EXPECT_EQ(array->status().now.may_fail, 2U);
}

// Random calls, a power loss in any of them, then any m members lost. Each block must be the
// flushed one, or one that was written since.
void run_crashes(std::uint64_t seed, unsigned data, unsigned parity) {
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const unsigned roles = data + parity;
  MemoryMembers members(roles, 1 << 20);
  const Settings settings = small_settings(data, parity);
  ASSERT_TRUE(create(members, settings, test_uuid()));
  const std::uint64_t blocks = settings.bytes / 4096;
  std::vector<std::vector<std::uint8_t>> allowed(blocks, {0});  // values of its first byte
  struct Cut {};
  for (int round = 0; round < 6; ++round) {
    std::uint64_t left = 40 + random() % 400;
    members.on_request = [&](const MemberRequest&) {
      if (left-- == 0) throw Cut{};
    };
    std::vector<std::vector<std::uint8_t>> next = allowed;
    try {
      auto array = Array::open(members);
      ASSERT_TRUE(array) << array.error().message;
      for (int i = 0; i < 60; ++i) {
        const std::uint64_t first = random() % blocks;
        std::uint64_t count = 1 + random() % std::min<std::uint64_t>(blocks - first, 24);
        const auto value = static_cast<std::uint8_t>(random());
        const auto call = random() % 8;
        if (call < 5) {
          for (std::uint64_t b = first; b < first + count; ++b)
            next[b].push_back(value);
          const std::vector<std::byte> bytes(count * 4096, std::byte{value});
          const bool is_durable = random() % 4 == 0;
          ASSERT_TRUE((*array)->write(first * 4096, bytes,
                                      is_durable ? Durability::durable : Durability::cached));
          if (is_durable) {
            for (auto& all : next)
              all.assign(1, all.back());
          }
        } else if (call == 5) {
          for (std::uint64_t b = first; b < first + count; ++b)
            next[b].push_back(0);
          ASSERT_TRUE((*array)->zero(first * 4096, count * 4096, Durability::cached));
        } else if (call == 6) {
          ASSERT_TRUE((*array)->flush());
          for (auto& all : next)
            all.assign(1, all.back());
        } else {
          std::vector<std::byte> bytes(count * 4096);
          ASSERT_TRUE((*array)->read(first * 4096, bytes));
          for (std::uint64_t b = 0; b < count; ++b) {
            ASSERT_EQ(static_cast<std::uint8_t>(bytes[b * 4096]), next[first + b].back());
          }
        }
      }
    } catch (const Cut&) {
    }
    members.on_request = {};
    members.lose_power(random);
    for (unsigned i = 0; i < random() % (parity + 1); ++i) {
      members.disks[random() % roles].is_absent = true;
    }
    // Sometimes crash during recovery.
    if (random() % 2 == 0) {
      std::uint64_t steps = random() % 200;
      members.on_request = [&](const MemberRequest&) {
        if (steps-- == 0) throw Cut{};
      };
      try {
        const auto array = Array::open(members);
        ASSERT_TRUE(array) << array.error().message;
      } catch (const Cut&) {
      }
      members.on_request = {};
      members.lose_power(random);
    }
    {
      auto array = open(members);
      ASSERT_NE(array, nullptr);
      const auto bytes = read_all(*array);
      for (std::uint64_t b = 0; b < blocks; ++b) {
        const std::vector<std::byte> block(
            bytes.begin() + static_cast<std::ptrdiff_t>(b * 4096),
            bytes.begin() + static_cast<std::ptrdiff_t>((b + 1) * 4096));
        ASSERT_EQ(block, std::vector<std::byte>(4096, block.front())) << "block " << b;
        const auto value = static_cast<std::uint8_t>(block.front());
        ASSERT_NE(std::find(next[b].begin(), next[b].end(), value), next[b].end())
            << "block " << b << " of stripe " << b * 4096 / (data * 8192) << " round " << round;
        next[b].assign(1, value);
      }
      allowed = next;
      for (MemoryMembers::Disk& disk : members.disks)
        disk.is_absent = false;
      for (unsigned role = 0; role < roles; ++role) {
        if (array->status().now.members[role].state != MemberState::out) continue;
        const Status status = array->readd(role);
        ASSERT_TRUE(status) << status.error().message;
      }
      for (;;) {
        const auto progress = array->rebuild_step(16384);
        ASSERT_TRUE(progress) << progress.error().message;
        if (progress->is_complete) break;
      }
      const auto scrub = array->scrub_step(0, settings.bytes);
      ASSERT_TRUE(scrub);
      ASSERT_EQ(scrub->columns_contradicting, 0U);
      ASSERT_EQ(scrub->columns_lost, 0U);
      ASSERT_EQ(array->status().now.may_fail, parity);
      ASSERT_EQ(read_all(*array), bytes);
    }
  }
}

TEST(Array, SurvivesPowerLoss) {
  const char* from = std::getenv("CALPE_SEED");
  const char* count = std::getenv("CALPE_COUNT");
  const std::uint64_t first = from == nullptr ? 1 : std::strtoull(from, nullptr, 10);
  const std::uint64_t seeds = count == nullptr ? 40 : std::strtoull(count, nullptr, 10);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    run_crashes(seed, seed % 3 == 0 ? 2 : 4, seed % 3 == 1 ? 3 : 2);
    if (HasFatalFailure()) {
      std::cout << "replay: CALPE_SEED=" << seed << " CALPE_COUNT=1\n";
      return;
    }
  }
}

}  // namespace
}  // namespace calpe::array
