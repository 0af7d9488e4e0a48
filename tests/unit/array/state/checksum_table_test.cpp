// SPDX-License-Identifier: Apache-2.0
// Pages of checksums: pages that do not match the index are unknown, the cache is bounded, and
// dirty pages are never dropped.
#include "array/state/checksum_table.hpp"

#include <gtest/gtest.h>
#include <numeric>

#include "support/memory_members.hpp"

namespace calpe::array {
namespace {

constexpr std::uint64_t pages = 4;

struct Table {
  MemberLayout layout = [] {
    Settings settings;
    settings.spec.data_shards = 2;
    settings.spec.parity_shards = 1;
    settings.chunk_bytes = 65536;
    settings.bytes = std::uint64_t{96} * 2 * 65536;
    settings.log_bytes = 1U << 18U;
    settings.spare_slots = 4;
    return layout_of(settings, {.rotated = 3, .members_max = 3});
  }();
  MemoryMembers members{3, layout.slots_at};
  Roster roster{members, layout};
  Index index{layout};
  ChecksumTable table;

  explicit Table(std::size_t cached_pages)
      : table(layout, roster, index, {.array = {}, .cache_bytes = cached_pages * block_bytes}) {
    for (unsigned role = 0; role < layout.roles(); ++role) {
      roster.set_place(role, 2 - role);
      roster.set(role, {});
    }
  }
  std::uint64_t get(unsigned role, std::uint64_t at) {
    std::uint64_t check = 99;
    table.get(role, at, std::span(&check, 1));
    return check;
  }
  void set(unsigned role, std::uint64_t at, std::uint64_t check) {
    table.set(role, at, std::span(&check, 1));
  }
  // Writes dirty pages as a commit does.
  void write_dirty() {
    for (const ChecksumTable::Dirty& page : table.dirty()) {
      auto& disk = members.disks[roster.place(page.role)];
      std::copy(
          page.bytes.begin(), page.bytes.end(),
          disk.now.begin() + static_cast<std::ptrdiff_t>(layout.page_at(page.page, page.place)));
      index.set_digest(page.role, page.page,
                       page_digest({}, page.role, page.page, page.bytes) | page.place);
      table.set_written(page);
    }
  }
  std::uint64_t reads_of(unsigned role, std::uint64_t at, std::uint64_t expected) {
    const std::uint64_t before = members.requests;
    EXPECT_EQ(get(role, at), expected) << at;
    return members.requests - before;
  }
};

TEST(ArrayChecksumTable, ReadsBackChecksumsFromTheMember) {
  Table trial(100);
  ASSERT_EQ(trial.layout.table_pages, pages);
  EXPECT_EQ(trial.get(1, 700), unknown_check) << "no page was ever written";
  EXPECT_FALSE(trial.table.is_sound(1, 1));
  std::vector<std::uint64_t> checks(900);
  std::iota(checks.begin(), checks.end(), 5);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    checks[0] = 1000 + round;
    trial.table.set(1, 600, checks);  // in pages 1 and 2
    const auto dirty = trial.table.dirty();
    ASSERT_EQ(dirty.size(), 2U);
    EXPECT_EQ(dirty[0].page, 1U);
    EXPECT_EQ(dirty[1].page, 2U);
    EXPECT_EQ(dirty[0].place, round % 2) << "never into the valid copy";
    trial.write_dirty();
    EXPECT_TRUE(trial.table.dirty().empty());
    trial.table.forget(1);
    std::vector<std::uint64_t> read(checks.size() + 2);
    trial.table.get(1, 599, read);
    EXPECT_EQ(read.front(), unknown_check);
    EXPECT_EQ(read.back(), unknown_check);
    EXPECT_TRUE(std::equal(checks.begin(), checks.end(), read.begin() + 1));
    EXPECT_TRUE(trial.table.is_sound(1, 1));
    EXPECT_EQ(trial.get(0, 600), unknown_check) << "of another member";
  }
}

TEST(ArrayChecksumTable, OneFlippedBitMakesAPageUnknown) {
  Table trial(100);
  trial.set(2, 3, 77);
  trial.set(2, 512, 78);
  trial.write_dirty();
  trial.table.forget(2);
  auto& disk = trial.members.disks[trial.roster.place(2)];
  disk.now[trial.layout.page_at(0, 1) + 4000] ^= std::byte{1};
  EXPECT_EQ(trial.get(2, 3), unknown_check);
  EXPECT_FALSE(trial.table.is_sound(2, 0));
  EXPECT_EQ(trial.get(2, 512), 78U);
  EXPECT_TRUE(trial.table.is_sound(2, 1));
}

TEST(ArrayChecksumTable, APageThatCannotBeReadIsTriedAgain) {
  Table trial(100);
  trial.set(0, 10, 42);
  trial.set(0, 600, 43);
  trial.write_dirty();
  trial.table.forget(0);
  auto& disk = trial.members.disks[trial.roster.place(0)];
  disk.is_failing = true;
  EXPECT_EQ(trial.get(0, 10), unknown_check);
  EXPECT_FALSE(trial.table.is_sound(0, 0));
  EXPECT_TRUE(trial.roster.is_live(0)) << "a failed read does not take the member out";
  trial.set(0, 601, 44);  // must be kept, so the rest of the page is unknown
  disk.is_failing = false;
  EXPECT_EQ(trial.get(0, 10), 42U);
  EXPECT_EQ(trial.get(0, 600), unknown_check);
  EXPECT_EQ(trial.get(0, 601), 44U);
}

TEST(ArrayChecksumTable, ForgottenPagesAreNotWritten) {
  Table trial(100);
  trial.set(0, 10, 42);
  trial.set(1, 10, 43);
  EXPECT_EQ(trial.get(0, 600), unknown_check);
  const auto dirty = trial.table.dirty();
  ASSERT_EQ(dirty.size(), 2U);
  trial.table.forget(0);
  ASSERT_EQ(trial.table.dirty().size(), 1U);
  EXPECT_EQ(trial.table.dirty()[0].role, 1U);
  trial.table.set_written(dirty[0]);  // already dropped: the number of dirty pages is unchanged
  EXPECT_EQ(trial.table.dirty().size(), 1U);
  trial.table.set_written(dirty[1]);
  trial.table.set_written(dirty[1]);
  EXPECT_TRUE(trial.table.dirty().empty());
}

TEST(ArrayChecksumTable, MemoryIsBoundedAndDirtyPagesStay) {
  Table trial(2);
  for (std::uint64_t page = 0; page < pages; ++page)
    trial.set(0, page * page_checksums, 50 + page);
  EXPECT_EQ(trial.table.dirty().size(), pages) << "above the limit, but none is dropped";
  for (std::uint64_t page = 0; page < pages; ++page)
    EXPECT_EQ(trial.reads_of(0, page * page_checksums, 50 + page), 0U);
  trial.write_dirty();
  // The cache holds two, so at least two of four are read again each time.
  EXPECT_EQ(trial.get(0, 0), 50U);
  std::uint64_t reads = 0;
  for (std::uint64_t page = 0; page < pages; ++page)
    reads += trial.reads_of(0, page * page_checksums, 50 + page);
  EXPECT_GE(reads, 2U);
}

}  // namespace
}  // namespace calpe::array
