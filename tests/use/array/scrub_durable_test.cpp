// SPDX-License-Identifier: Apache-2.0
// A reported repair survives a power cut: afterwards any m other members may be lost. The disks
// lose every write that the array did not make durable, which is the worst case.
#include <gtest/gtest.h>

#include "array/format/layout.hpp"
#include "array/judged_array.hpp"

namespace calpe::tests {
namespace {

using array::MemberLayout;
using array::Settings;

constexpr unsigned data = 4;
constexpr unsigned parity = 2;
constexpr unsigned hurt = 1;  // the member that is damaged
constexpr std::uint64_t stripes = 128;
constexpr std::uint64_t member_bytes = 4 << 20;

class ScrubDurable : public testing::Test {
 protected:
  ScrubDurable() : members_(data + parity, member_bytes) {
    Settings settings;
    settings.spec.data_shards = data;
    settings.spec.parity_shards = parity;
    settings.chunk_bytes = 16384;
    settings.bytes = stripes * data * 16384;
    settings.log_bytes = 65536;
    settings.spare_slots = 4;
    EXPECT_TRUE(array::create(members_, settings, uuid_of(array_seed())));
    open();
    layout_ = array::layout_of(array_->settings(),
                               {.rotated = data + parity, .members_max = data + parity + 4});
    content_.resize(settings.bytes);
    Random random(array_seed());
    fill_fast(random, content_);
    EXPECT_TRUE(array_->write(0, content_, Durability::durable));
    EXPECT_TRUE(array_->close());
    array_.reset();
    members_.cut_power(std::vector<std::size_t>(members_.count()));
  }

  void open() {
    auto opened = Array::open(members_);
    ASSERT_TRUE(opened) << opened.error().message;
    array_ = *std::move(opened);
  }
  void spoil(std::uint64_t offset, std::uint64_t bytes) {
    Random random(offset);
    fill_fast(random, members_[hurt].disk.content().subspan(offset, bytes));
  }
  struct Scrubbed {
    std::uint64_t found = 0;
    std::uint64_t repaired = 0;
  };
  Scrubbed scrub() {
    Scrubbed all;
    for (std::uint64_t at = 0; at < array_->bytes();) {
      const auto step = array_->scrub_step(at, array_->bytes() / 4);
      EXPECT_TRUE(step) << step.error().message;
      if (!step) break;
      for (const std::uint64_t blocks : step->blocks_wrong) {
        all.found += blocks;
      }
      all.repaired += step->blocks_repaired;
      EXPECT_EQ(step->columns_lost, 0U);
      at = step->next;
    }
    return all;
  }
  // Reads without any m of the other members, after a power cut.
  void expect_all_after_cut() {
    array_.reset();
    members_.cut_power(std::vector<std::size_t>(members_.count()));
    Roles lost(parity);
    std::iota(lost.begin(), lost.end(), 0U);
    unsigned sets = 0;
    do {
      if (std::ranges::find(lost, hurt) != lost.end()) continue;
      EXPECT_EQ(read_without(members_, lost, content_), "") << "seed " << array_seed();
      ++sets;
    } while (next_set(lost, members_.count()));
    EXPECT_EQ(sets, 10U);
  }

  SimulatedMembers members_;
  MemberLayout layout_;
  std::vector<std::byte> content_;
  std::unique_ptr<Array> array_;
};

TEST_F(ScrubDurable, AWholeTableOfChecksums) {
  spoil(layout_.table_at, layout_.slots_at - layout_.table_at);
  open();
  const Scrubbed first = scrub();
  EXPECT_EQ(first.found, stripes * layout_.columns);
  EXPECT_EQ(first.repaired, first.found);
  const Scrubbed second = scrub();
  EXPECT_EQ(second.found, 0U);
  EXPECT_EQ(array_->status().now.members[hurt].blocks_repaired, first.found);
  expect_all_after_cut();
}

// A scrub does not read the log, but makes its contents unnecessary.
TEST_F(ScrubDurable, ALogThatIsDamagedWhileTheArrayIsOpen) {
  open();
  Random random(array_seed() + 1);
  const std::span<std::byte> some = std::span(content_).subspan(4096, 12288);
  fill_fast(random, some);
  ASSERT_TRUE(array_->write(4096, some, Durability::durable));
  spoil(8192, 65536);
  EXPECT_EQ(scrub().found, 0U);
  expect_all_after_cut();
}

TEST_F(ScrubDurable, ChecksumsThatReadsFoundAndABatchHasNoRoomFor) {
  spoil(layout_.table_at, layout_.slots_at - layout_.table_at);
  open();
  constexpr std::uint64_t record_bytes = 32;  // of one checksum
  ASSERT_GT(stripes * layout_.columns * data / (data + parity), layout_.header_most / record_bytes);
  std::vector<std::byte> all(content_.size());
  ASSERT_TRUE(array_->read(0, all));
  ASSERT_EQ(all, content_);
  ASSERT_TRUE(array_->flush());
  // Reads only touch data, so the scrub repairs only parity.
  const Scrubbed left = scrub();
  std::uint64_t parity_blocks = 0;
  for (std::uint64_t stripe = 0; stripe < stripes; ++stripe) {
    if (layout_.shard_of(hurt, stripe) >= data) parity_blocks += layout_.columns;
  }
  EXPECT_EQ(left.found, parity_blocks);
  EXPECT_EQ(left.repaired, left.found);
  expect_all_after_cut();
}

TEST_F(ScrubDurable, WrongBlocksThatAScrubRewrote) {
  spoil(layout_.slots_at, layout_.member_bytes - layout_.slots_at);
  open();
  const Scrubbed first = scrub();
  EXPECT_EQ(first.found, stripes * layout_.columns);
  EXPECT_EQ(first.repaired, first.found);
  expect_all_after_cut();
}

// Memory still has the right bytes, so only a read of the member shows the damage.
TEST_F(ScrubDurable, TablesThatAreDamagedWhileTheArrayIsOpen) {
  open();
  std::vector<std::byte> all(content_.size());
  ASSERT_TRUE(array_->read(0, all));
  ASSERT_EQ(scrub().found, 0U);
  const std::pair<std::uint64_t, std::uint64_t> parts[] = {
      {layout_.table_at, layout_.slots_at}, {layout_.index_at, layout_.table_at}, {0, 8192}};
  for (const auto& [from, to] : parts) {
    spoil(from, to - from);
    const Scrubbed first = scrub();
    EXPECT_GT(first.found, 0U) << "damaged from " << from;
    EXPECT_EQ(first.repaired, first.found) << "damaged from " << from;
    EXPECT_EQ(scrub().found, 0U) << "damaged from " << from;
  }
  expect_all_after_cut();
}

TEST_F(ScrubDurable, AFlushHardensTheRepairsOfReads) {
  spoil(layout_.slots_at, layout_.member_bytes - layout_.slots_at);
  open();
  std::vector<std::byte> all(content_.size());
  ASSERT_TRUE(array_->read(0, all));
  EXPECT_EQ(all, content_);
  EXPECT_EQ(array_->status().now.members[hurt].blocks_repaired, 0U);  // not durable yet
  ASSERT_TRUE(array_->flush());
  const std::uint64_t repaired = array_->status().now.members[hurt].blocks_repaired;
  EXPECT_GT(repaired, 0U);
  // After a power cut a scrub finds only blocks that the reads did not touch.
  array_.reset();
  members_.cut_power(std::vector<std::size_t>(members_.count()));
  open();
  EXPECT_EQ(scrub().found, stripes * layout_.columns - repaired);
  expect_all_after_cut();
}

TEST_F(ScrubDurable, AScrubReportsThatItsRepairsAreNotDurable) {
  spoil(layout_.table_at, layout_.slots_at - layout_.table_at);
  open();
  // Writes to all members but the first two fail: more than may be lost.
  for (unsigned place = 2; place < members_.count(); ++place) {
    members_[place].fails_after = 0;
  }
  const auto step = array_->scrub_step(0, array_->bytes());
  ASSERT_FALSE(step);
  EXPECT_NE(step.error().message.find("cannot flush repaired"), std::string::npos)
      << step.error().message;
  EXPECT_EQ(array_->status().now.members[hurt].blocks_repaired, 0U);
}

TEST_F(ScrubDurable, RepairsOfAMemberThatFailsDoNotCount) {
  spoil(layout_.slots_at, layout_.member_bytes - layout_.slots_at);
  open();
  members_[hurt].fails_after = 3;  // some rewritten blocks, then no more
  const auto step = array_->scrub_step(0, array_->bytes());
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->blocks_repaired, 0U);
  EXPECT_EQ(array_->status().now.members[hurt].blocks_repaired, 0U);
  EXPECT_EQ(array_->status().now.members[hurt].state, array::MemberState::out);
}

}  // namespace
}  // namespace calpe::tests
