// SPDX-License-Identifier: Apache-2.0
// Replaces members that are in: they serve until the new disk has everything.
#include <gtest/gtest.h>

#include "array/array.hpp"
#include "array/format/superblock.hpp"
#include "array/state/member_probe.hpp"
#include "support/memory_members.hpp"

namespace calpe::array {
namespace {

constexpr unsigned data = 3;
constexpr unsigned parity = 2;
constexpr unsigned roles = data + parity;
constexpr std::uint32_t chunk = 8192;
constexpr std::uint64_t stripes = 12;
constexpr std::uint64_t stripe_bytes = std::uint64_t{data} * chunk;
constexpr unsigned fresh = roles;  // the place of the new disk

class ArrayReplaceLive : public testing::Test {
 protected:
  ArrayReplaceLive() : members(roles + 1, 600 * 1024), expected(stripes * stripe_bytes) {
    members.disks[fresh].is_absent = true;
    Settings settings;
    settings.spec.data_shards = data;
    settings.spec.parity_shards = parity;
    settings.chunk_bytes = chunk;
    settings.bytes = expected.size();
    settings.log_bytes = 64 * 1024;
    settings.spare_slots = 3;
    EXPECT_TRUE(create(members, settings, Uuid{std::byte{7}}).has_value());
    members.disks[fresh].is_absent = false;
    open();
    for (std::uint64_t at = 0; at < expected.size(); at += stripe_bytes)
      write(at, stripe_bytes);
  }

  void open() {
    auto opened = Array::open(members);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    array = *std::move(opened);
  }
  void write(std::uint64_t at, std::uint64_t bytes) {
    std::vector<std::byte> content(bytes);
    for (std::byte& one : content)
      one = static_cast<std::byte>(random());
    std::copy(content.begin(), content.end(), expected.begin() + static_cast<std::ptrdiff_t>(at));
    const Status done = array->write(at, content, Durability::durable);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  void expect_readable() {
    std::vector<std::byte> read(expected.size());
    const Status done = array->read(0, read);
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_EQ(read, expected);
  }
  MemberStatus member(unsigned role) { return array->status().now.members[role]; }
  RebuildProgress step() {
    const auto done = array->rebuild_step(chunk, Progress::now);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return done ? *done : RebuildProgress{};
  }
  // Every block of the member matches its checksum.
  void expect_sound() {
    const auto scrubbed = array->scrub_step(0, expected.size());
    ASSERT_TRUE(scrubbed.has_value());
    for (const std::uint64_t wrong : scrubbed->blocks_wrong)
      EXPECT_EQ(wrong, 0U);
  }

  MemoryMembers members;
  std::vector<std::byte> expected;
  std::unique_ptr<Array> array;
  std::mt19937 random{3};
};

TEST_F(ArrayReplaceLive, KeepsRedundancyUntilTheNewDiskTakesOver) {
  ASSERT_TRUE(array->replace(1, fresh).has_value());
  std::uint64_t copied = 0;
  for (bool is_complete = false; !is_complete;) {
    ASSERT_EQ(member(1).place, 1U);
    EXPECT_EQ(member(1).state, MemberState::in);
    EXPECT_EQ(member(1).successor_place, fresh);
    EXPECT_GE(member(1).stripes_copied, copied);
    copied = member(1).stripes_copied;
    EXPECT_EQ(array->status().now.may_fail, parity);
    EXPECT_EQ(array->status().now.members.size(), roles) << "the new disk is no free spare";
    write(4096 * (random() % (expected.size() / 4096)), 4096);
    write(stripe_bytes * (random() % stripes), stripe_bytes);
    is_complete = step().is_complete;
  }
  EXPECT_GT(copied, stripes / 2);
  EXPECT_EQ(member(1).place, fresh);
  EXPECT_EQ(member(1).successor_place, std::nullopt);
  // The old disk and any m - 1 others are not needed.
  members.disks[1].is_absent = true;
  expect_sound();
  members.disks[0].is_failing = members.disks[3].is_failing = true;
  expect_readable();
  array.reset();
  members.disks[0] = members.disks[2];  // worthless
  members.disks[0].is_absent = members.disks[3].is_absent = true;
  open();
  expect_readable();
}

TEST_F(ArrayReplaceLive, ResumesAfterARestart) {
  ASSERT_TRUE(array->replace(4, fresh).has_value());
  for (int i = 0; i < 5; ++i)
    step();
  array.reset();  // without close
  open();
  EXPECT_EQ(member(4).successor_place, fresh);
  EXPECT_EQ(member(4).stripes_copied, 5U);
  write(0, 4096);  // of a stripe that was copied
  while (!step().is_complete)
    continue;
  EXPECT_EQ(member(4).place, fresh);
  members.disks[4].is_absent = members.disks[0].is_absent = members.disks[1].is_absent = true;
  array.reset();
  open();
  expect_readable();
}

// Otherwise it would be used with stripes that it missed.
TEST_F(ArrayReplaceLive, ANewDiskThatWasAwayIsNotResumed) {
  ASSERT_TRUE(array->replace(2, fresh).has_value());
  for (int i = 0; i < 8; ++i)
    step();
  array.reset();
  members.disks[fresh].is_absent = true;
  open();
  EXPECT_EQ(member(2).successor_place, std::nullopt);
  write(0, stripe_bytes);
  array.reset();
  members.disks[fresh].is_absent = false;
  open();
  EXPECT_EQ(member(2).successor_place, std::nullopt);
  EXPECT_TRUE(step().is_complete);
  EXPECT_EQ(member(2).place, 2U);
  expect_readable();
}

TEST_F(ArrayReplaceLive, ANewDiskThatFailsChangesNothing) {
  ASSERT_TRUE(array->replace(2, fresh).has_value());
  step();
  members.disks[fresh].is_failing = true;
  const auto failed = array->rebuild_step(chunk, Progress::now);
  ASSERT_FALSE(failed.has_value());
  EXPECT_NE(failed.error().message.find("member 2 is not replaced: "), std::string::npos)
      << failed.error().message;
  EXPECT_EQ(member(2).state, MemberState::in);
  EXPECT_EQ(member(2).successor_place, std::nullopt);
  EXPECT_EQ(array->status().now.may_fail, parity);
  write(0, stripe_bytes);
  expect_readable();
}

TEST_F(ArrayReplaceLive, CanBeCancelled) {
  ASSERT_TRUE(array->replace(2, fresh).has_value());
  step();
  ASSERT_TRUE(array->remove_spare(fresh).has_value());
  EXPECT_EQ(member(2).successor_place, std::nullopt);
  EXPECT_TRUE(step().is_complete);
  EXPECT_FALSE(look_at(members, fresh).superblock.has_value());
  expect_readable();
}

TEST_F(ArrayReplaceLive, IsRefusedTwice) {
  ASSERT_TRUE(array->replace(2, fresh).has_value());
  const Status again = array->replace(3, fresh);
  ASSERT_FALSE(again.has_value());
  EXPECT_NE(again.error().message.find("member 2 is being replaced"), std::string::npos)
      << again.error().message;
  EXPECT_FALSE(*array->take_spare()) << "the new disk is not free";
}

// A member that goes out in the meantime is rebuilt in full on the new disk.
TEST_F(ArrayReplaceLive, AMemberThatFailsIsRebuilt) {
  ASSERT_TRUE(array->replace(2, fresh).has_value());
  step();
  members.disks[2].is_failing = true;
  write(0, expected.size());
  EXPECT_EQ(member(2).state, MemberState::out);
  EXPECT_EQ(member(2).successor_place, std::nullopt);
  ASSERT_TRUE(*array->take_spare());
  while (!step().is_complete)
    continue;
  EXPECT_EQ(member(2).place, fresh);
  expect_sound();
  expect_readable();
}

// Sectors that cannot be read are the reason for most replacements.
TEST_F(ArrayReplaceLive, DecodesWhatTheOldDiskCannotRead) {
  ASSERT_TRUE(array->replace(0, fresh).has_value());
  for (int i = 0; i < 6; ++i)
    step();
  array.reset();  // so that pages of checksums are read again
  open();
  std::fill(members.disks[0].now.begin() + 2 * block_bytes, members.disks[0].now.end(),
            std::byte{0x5A});
  while (!step().is_complete)
    continue;
  EXPECT_EQ(member(0).place, fresh);
  members.disks[3].is_failing = members.disks[4].is_failing = true;
  expect_readable();
  EXPECT_EQ(array->status().blocks_lost, 0U);
}

TEST_F(ArrayReplaceLive, TheSuccessorIsInTheSuperblock) {
  ASSERT_TRUE(array->replace(2, fresh).has_value());
  step();
  const FoundPlace found = look_at(members, 0);
  ASSERT_TRUE(found.superblock.has_value());
  EXPECT_EQ(found.superblock->successor.role, 2U);
  EXPECT_EQ(found.superblock->successor.slots_done, 1U);
  SuperblockBytes bytes = to_bytes(*found.superblock);
  EXPECT_EQ(bytes[274], std::byte{3});
  EXPECT_EQ(bytes[276], std::byte{1});
  EXPECT_EQ(parse_superblock(bytes)->successor, found.superblock->successor);
  const auto inspected = inspect(members);
  EXPECT_EQ(inspected->members[2].successor_place, fresh);
  EXPECT_EQ(inspected->members.size(), roles);
}

}  // namespace
}  // namespace calpe::array
