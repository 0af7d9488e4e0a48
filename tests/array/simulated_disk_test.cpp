// SPDX-License-Identifier: Apache-2.0
// Tests the simulated disks, because a disk that loses too little hides bugs.
#include <gtest/gtest.h>

#include "array/crash_states.hpp"

namespace calpe::tests {
namespace {

using Bytes = std::vector<std::byte>;

Bytes filled(std::size_t bytes, int with) {
  return Bytes(bytes, static_cast<std::byte>(with));
}

int at(SimulatedDisk& disk, std::size_t offset) {
  return std::to_integer<int>(disk.content()[offset]);
}

// Sends a request as an array would.
void run_one(SimulatedMembers& members, MemberCall call, std::uint64_t offset, Bytes& bytes) {
  MemberRequest request = {.call = call, .member = 0, .offset = offset, .bytes = bytes};
  members.run(std::span(&request, 1));
  ASSERT_EQ(members.complaint(), "");
}

TEST(SimulatedDisk, KeepsAPrefixOfUnsyncedSectors) {
  for (std::size_t kept = 0; kept <= 6; ++kept) {
    SimulatedDisk disk(8192);
    disk.write(0, filled(8192, 1));
    disk.sync_first(disk.writes());
    disk.write(0, filled(2048, 2));
    disk.write(1024, filled(1024, 3));
    disk.cut_power([&](std::size_t number, std::size_t) { return number < kept; });
    for (std::size_t sector = 0; sector < 5; ++sector) {
      int expected = sector < 4 && sector < kept ? 2 : 1;
      if (sector >= 2 && sector < 4 && sector + 2 < kept) expected = 3;
      EXPECT_EQ(at(disk, sector * sector_bytes), expected) << kept << ", " << sector;
    }
  }
}

TEST(SimulatedDisk, UndoesWhatACrashLeft) {
  SimulatedDisk disk(4096);
  disk.write(0, filled(4096, 1));
  disk.sync_first(disk.writes());
  const std::size_t mark = disk.writes();
  disk.write(512, filled(1024, 2));
  disk.cut_power([](std::size_t number, std::size_t) { return number == 1; });
  EXPECT_EQ(at(disk, 512), 1);
  EXPECT_EQ(at(disk, 1024), 2);
  disk.write(0, filled(4096, 5));
  disk.undo_to(mark);
  for (std::size_t i = 0; i < 4096; ++i) {
    ASSERT_EQ(at(disk, i), 1);
  }
  disk.forget_synced();
  EXPECT_EQ(disk.writes(), 0U);
}

TEST(SimulatedDisk, AFlushCoversEarlierBatchesOnly) {
  SimulatedMembers members(1, 8192);
  Bytes one = filled(4096, 1);
  Bytes two = filled(4096, 2);
  std::vector<MemberRequest> batch = {
      {.call = MemberCall::write, .member = 0, .offset = 0, .bytes = one},
      {.call = MemberCall::flush, .member = 0}};
  members.run(batch);
  members.cut_power(std::vector<std::size_t>{0});
  EXPECT_EQ(at(members[0].disk, 0), 0);
  run_one(members, MemberCall::write, 0, two);
  Bytes none;
  run_one(members, MemberCall::flush, 0, none);
  members.cut_power(std::vector<std::size_t>{0});
  EXPECT_EQ(at(members[0].disk, 0), 2);
}

TEST(SimulatedDisk, ADurableWriteMakesOnlyItselfDurable) {
  SimulatedMembers members(1, 8192);
  Bytes one = filled(4096, 1);
  Bytes two = filled(4096, 2);
  Bytes three = filled(4096, 3);
  run_one(members, MemberCall::write, 0, one);
  int epochs = 0;
  members.at_epoch_end([&] { ++epochs; });
  MemberRequest durable = {
      .call = MemberCall::write, .member = 0, .offset = 4096, .bytes = two, .is_durable = true};
  members.run(std::span(&durable, 1));
  run_one(members, MemberCall::write, 4096, three);
  EXPECT_EQ(epochs, 1);
  members.cut_power(std::vector<std::size_t>{0});
  EXPECT_EQ(at(members[0].disk, 0), 0);
  EXPECT_EQ(at(members[0].disk, 4096), 2);
}

TEST(SimulatedDisk, ALostFlushLosesEverything) {
  SimulatedMembers members(1, 4096);
  members[0].loses_flushes = true;
  Bytes one = filled(4096, 1);
  Bytes none;
  run_one(members, MemberCall::write, 0, one);
  run_one(members, MemberCall::flush, 0, none);
  members.cut_power(std::vector<std::size_t>{0});
  EXPECT_EQ(at(members[0].disk, 0), 0);
}

TEST(SimulatedDisk, UnreadableUntilWritten) {
  SimulatedMembers members(1, 8192);
  members[0].unreadable = {1, 9};
  Bytes all(8192);
  MemberRequest read = {.call = MemberCall::read, .member = 0, .offset = 0, .bytes = all};
  members.run(std::span(&read, 1));
  EXPECT_TRUE(read.error.has_value());
  Bytes block = filled(4096, 1);
  run_one(members, MemberCall::write, 0, block);
  EXPECT_EQ(members[0].unreadable, std::set<std::uint64_t>{9});
  run_one(members, MemberCall::write, 4096, block);
  members.run(std::span(&read, 1));
  EXPECT_FALSE(read.error.has_value());
}

TEST(SimulatedDisk, WithoutPowerNothingIsWritten) {
  SimulatedMembers members(1, 8192);
  members.power_off_after(1);
  Bytes one = filled(4096, 1);
  run_one(members, MemberCall::write, 0, one);
  MemberRequest late = {.call = MemberCall::write, .member = 0, .offset = 4096, .bytes = one};
  members.run(std::span(&late, 1));
  EXPECT_TRUE(late.error.has_value());
  EXPECT_TRUE(members.is_off());
  EXPECT_EQ(at(members[0].disk, 0), 1);
  EXPECT_EQ(at(members[0].disk, 4096), 0);
  members.power_on();
  members.run(std::span(&late, 1));
  EXPECT_FALSE(late.error.has_value());
}

TEST(SimulatedDisk, ComplainsOfABatchWhoseOrderMatters) {
  SimulatedMembers members(2, 16384);
  Bytes one = filled(8192, 1);
  std::vector<MemberRequest> batch = {
      {.call = MemberCall::write, .member = 0, .offset = 0, .bytes = one},
      {.call = MemberCall::write, .member = 1, .offset = 0, .bytes = one}};
  members.run(batch);
  EXPECT_EQ(members.complaint(), "");
  batch[1].member = 0;
  batch[1].offset = 4096;
  members.run(batch);
  EXPECT_NE(members.complaint(), "");
}

TEST(CrashStates, AreAsManyAsTheFormulaSaysAndAllDifferent) {
  for (const KeptSectors& sectors :
       {KeptSectors{0, 0, 0}, KeptSectors{0, 5, 0}, KeptSectors{1, 0, 3}, KeptSectors{2, 1, 4},
        KeptSectors{1, 1, 1, 1}, KeptSectors{8, 16, 0, 24, 8, 8}}) {
    std::set<KeptSectors> seen;
    std::uint64_t states = 0;
    each_prefix_torn_state(sectors, [&](const KeptSectors& kept) {
      ++states;
      seen.insert(kept);
    });
    EXPECT_EQ(states, prefix_torn_states(sectors));
    EXPECT_EQ(seen.size(), states);
  }
}

TEST(CrashStates, HoldWhatWasKept) {
  SimulatedMembers live(3, 8192);
  CrashedMembers crashed(live);
  Bytes one = filled(4096, 1);
  Bytes two = filled(4096, 2);
  run_one(live, MemberCall::write, 0, one);
  crashed.follow();
  crashed.next_epoch();
  run_one(live, MemberCall::write, 4096, two);
  EXPECT_EQ(crashed.sectors(), (KeptSectors{8, 0, 0}));
  crashed.put({3, 0, 0}, [](std::size_t) { return true; });
  SimulatedDisk& disk = crashed.disks()[0].disk;
  EXPECT_EQ(at(disk, 0), 1);
  EXPECT_EQ(at(disk, 4096 + 1535), 2);
  EXPECT_EQ(at(disk, 4096 + 1536), 0);
  crashed.take_back();
  EXPECT_EQ(at(disk, 0), 0);
  crashed.put({8, 0, 0}, [](std::size_t) { return false; });
  EXPECT_EQ(at(disk, 0), 0);
  EXPECT_EQ(at(disk, 8191), 2);
}

}  // namespace
}  // namespace calpe::tests
