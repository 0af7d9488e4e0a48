// SPDX-License-Identifier: Apache-2.0
// A log is read ahead; unreadable blocks after the requested ones do not matter.
#include "array/state/log_reader.hpp"

#include <gtest/gtest.h>

#include "support/memory_members.hpp"

namespace calpe::array {
namespace {

struct Log {
  MemberLayout layout = [] {
    Settings settings;
    settings.spec.data_shards = 2;
    settings.spec.parity_shards = 1;
    settings.chunk_bytes = 8192;
    settings.bytes = std::uint64_t{8} * 2 * 8192;
    settings.log_bytes = 16 * block_bytes;
    settings.spare_slots = 4;
    return layout_of(settings, {.rotated = 3, .members_max = 3});
  }();
  MemoryMembers members{3, layout.slots_at};
  Roster roster{members, layout};
  LogReader reader{layout, roster};

  Log() {
    for (unsigned role = 0; role < 3; ++role) {
      roster.set_place(role, role);
      roster.set(role, {});
      auto& bytes = members.disks[role].now;
      for (std::uint64_t block = 0; block < 16; ++block)
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(log_at + block * block_bytes),
                    block_bytes, static_cast<std::byte>(16 * role + block));
    }
  }
  // Returns the number of the block, or -1.
  int read(unsigned role, std::uint64_t block) {
    const auto bytes = reader.read(role, block * block_bytes, block_bytes);
    if (bytes.empty()) return -1;
    EXPECT_EQ(bytes.size(), block_bytes);
    EXPECT_EQ(bytes.front(), bytes.back());
    return std::to_integer<int>(bytes.front()) - static_cast<int>(16 * role);
  }
};

TEST(ArrayLogReader, ReadsAheadAndNeverPastTheEnd) {
  Log log;
  for (int block = 0; block < 16; ++block) {
    for (unsigned role = 0; role < 3; ++role)
      ASSERT_EQ(log.read(role, static_cast<std::uint64_t>(block)), block);
  }
  EXPECT_LT(log.members.requests, 3 * 16U) << "nothing was read ahead";
  EXPECT_EQ(log.read(0, 16), -1);
  EXPECT_TRUE(log.reader.read(0, 15 * block_bytes, 2 * block_bytes).empty());
  EXPECT_TRUE(log.reader.read(0, 0, 17 * block_bytes).empty());
  EXPECT_EQ(log.reader.read(0, 0, 16 * block_bytes).size(), 16 * block_bytes);
}

TEST(ArrayLogReader, ReadsReadableBlocksNextToUnreadableOnes) {
  Log log;
  bool is_dead = false;
  log.members.on_request = [&](const MemberRequest& request) {
    const std::uint64_t end = request.offset + request.bytes.size();
    log.members.disks[1].is_failing = is_dead || end > log_at + 6 * block_bytes;
  };
  for (std::uint64_t block = 0; block < 6; ++block)
    EXPECT_EQ(log.read(1, block), static_cast<int>(block));
  EXPECT_EQ(log.read(1, 6), -1);
  EXPECT_EQ(log.read(2, 6), 6) << "another member";
  EXPECT_EQ(log.read(1, 0), 0) << "a failure is not cached";
  is_dead = true;
  EXPECT_EQ(log.read(1, 4), -1);
  EXPECT_TRUE(log.reader.read(1, 0, 16 * block_bytes).empty()) << "nothing smaller to try";
  EXPECT_TRUE(log.roster.is_live(1)) << "a failed read does not take the member out";
}

}  // namespace
}  // namespace calpe::array
