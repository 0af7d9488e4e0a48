// SPDX-License-Identifier: Apache-2.0
// Rebuilds that read ahead and go in the order of slots.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

#include "array/array.hpp"
#include "array/format/member_format.hpp"
#include "array/state/member_probe.hpp"
#include "support/memory_members.hpp"

namespace calpe::array {
namespace {

constexpr std::uint64_t chunk = 8192;
constexpr unsigned data = 4;
constexpr unsigned roles = 6;
constexpr std::uint64_t stripes = 40;
constexpr std::uint64_t stripe_bytes = chunk * data;

class ArraySweep : public testing::Test {
 protected:
  void SetUp() override {
    Settings settings;
    settings.spec.data_shards = data;
    settings.spec.parity_shards = roles - data;
    settings.chunk_bytes = chunk;
    settings.bytes = expected.size();
    settings.log_bytes = 256 * 1024;
    ASSERT_TRUE(create(members, settings, Uuid{std::byte{5}}));
    open();
    for (std::uint64_t stripe = 0; stripe < stripes; ++stripe)
      write(stripe * stripe_bytes, stripe_bytes);
  }
  void open() {
    auto opened = Array::open(members);
    ASSERT_TRUE(opened) << opened.error().message;
    array = *std::move(opened);
  }
  void write(std::uint64_t at, std::uint64_t bytes) {
    for (std::uint64_t i = at; i < at + bytes; ++i)
      expected[i] = static_cast<std::byte>(random());
    ASSERT_TRUE(array->write(at, std::span(expected).subspan(at, bytes), Durability::cached));
  }
  // Every stripe gets another slot, in no order.
  void rewrite_all() {
    std::vector<std::uint64_t> order(stripes);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    std::shuffle(order.begin(), order.end(), random);
    for (const std::uint64_t stripe : order)
      write(stripe * stripe_bytes, stripe_bytes);
    ASSERT_TRUE(array->flush());
  }
  void begin_rebuild() {
    ASSERT_TRUE(array->flush());
    ASSERT_TRUE(array->fail(2));
    ASSERT_TRUE(array->replace(2, 2));
  }
  RebuildProgress step(std::uint64_t bytes, Progress progress = Progress::when_due) {
    const auto done = array->rebuild_step(bytes, progress);
    EXPECT_TRUE(done) << done.error().message;
    return done ? *done : RebuildProgress{};
  }
  void complete() {
    while (!step(4 * chunk).is_complete)
      continue;
  }
  // The rebuilt member is needed for every stripe.
  void expect_rebuilt() {
    EXPECT_EQ(array->status().now.may_fail, 2U);
    const auto scrubbed = array->scrub_step(0, expected.size());
    ASSERT_TRUE(scrubbed);
    EXPECT_EQ(scrubbed->blocks_wrong, std::vector<std::uint64_t>(roles));
    EXPECT_EQ(scrubbed->columns_contradicting, 0U);
    members.disks[0].is_failing = members.disks[4].is_failing = true;
    std::vector<std::byte> read(expected.size());
    ASSERT_TRUE(array->read(0, read));
    EXPECT_EQ(read, expected);
  }

  MemoryMembers members{roles, 4U << 20U};
  std::vector<std::byte> expected = std::vector<std::byte>(stripes * stripe_bytes);
  std::unique_ptr<Array> array;
  std::mt19937 random{7};
};

TEST_F(ArraySweep, AWriteInBetweenIsKept) {
  begin_rebuild();
  step(4 * chunk);  // read, but not written yet
  for (std::uint64_t stripe = 0; stripe < 4; ++stripe)
    write(stripe * stripe_bytes + 4096 * stripe, 4096);
  write(5 * stripe_bytes, stripe_bytes);
  complete();
  expect_rebuilt();
}

TEST_F(ArraySweep, StripesThatMoveAreNotForgotten) {
  begin_rebuild();
  for (std::uint64_t turn = 0; turn < 200; ++turn) {
    write(random() % stripes * stripe_bytes, stripe_bytes);
    write(random() % (stripes * stripe_bytes / 4096) * 4096, 4096);
    const std::uint64_t hole = random() % stripes * stripe_bytes;
    if (turn % 5 == 0) {
      ASSERT_TRUE(array->trim(hole, stripe_bytes, Durability::cached));
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(hole), stripe_bytes, std::byte{0});
    }
    if (step(chunk, turn % 3 == 0 ? Progress::now : Progress::when_due).is_complete) break;
  }
  complete();
  expect_rebuilt();
}

TEST_F(ArraySweep, ReadsAndWritesInSequence) {
  rewrite_all();
  begin_rebuild();
  std::vector<std::uint64_t> next(roles);
  std::uint64_t jumps = 0;
  members.on_request = [&](const MemberRequest& request) {
    if (request.bytes.size() != chunk) return;  // not a chunk
    if (request.offset != next[request.member]) ++jumps;
    next[request.member] = request.offset + chunk;
  };
  complete();
  members.on_request = {};
  EXPECT_LT(jumps, 4U * roles);  // where slots are free
  expect_rebuilt();
}

TEST_F(ArraySweep, ProgressIsDurableOnRequest) {
  rewrite_all();
  begin_rebuild();
  step(stripes / 2 * chunk, Progress::now);
  open();
  const std::uint64_t done = array->status().now.members[2].stripes_done;
  EXPECT_GE(done, stripes / 2);
  EXPECT_LT(done, stripes);
  const auto inspected = inspect(members);
  ASSERT_TRUE(inspected);
  EXPECT_GE(inspected->members[2].stripes_done, stripes / 2);
  std::uint64_t written = 0;
  members.on_request = [&](const MemberRequest& request) {
    const bool is_chunk = request.call == MemberCall::write && request.bytes.size() == chunk;
    if (request.member == 2 && is_chunk) ++written;
  };
  complete();
  members.on_request = {};
  EXPECT_EQ(written, stripes - done);
  expect_rebuilt();
}

TEST_F(ArraySweep, ProgressThatIsNotDurableIsRepeated) {
  begin_rebuild();
  step(stripes / 2 * chunk);
  step(chunk);
  open();
  EXPECT_EQ(array->status().now.members[2].stripes_done, 0U);
  complete();
  expect_rebuilt();
}

// Older versions list no slots: stripes below the watermark are complete.
TEST_F(ArraySweep, ContinuesWhatAnOlderVersionBegan) {
  begin_rebuild();
  step(stripes / 2 * chunk, Progress::now);
  array.reset();
  for (unsigned place = 0; place < roles; ++place) {
    const FoundPlace found = look_at(members, place);
    ASSERT_TRUE(found.superblock.has_value());
    Superblock older = *found.superblock;
    EXPECT_GE(older.roles[2].watermark, stripes / 2);
    older.roles[2].slots_done.reset();
    ASSERT_TRUE(write_superblock(members, place, found.copy, older));
  }
  open();
  EXPECT_GE(array->status().now.members[2].stripes_done, stripes / 2);
  write(0, 3 * stripe_bytes + 4096);
  write((stripes - 2) * stripe_bytes, stripe_bytes + 8192);
  complete();
  expect_rebuilt();
}

TEST_F(ArraySweep, AWrongBlockIsDecodedAndRepaired) {
  begin_rebuild();
  std::vector<std::byte>& disk = members.disks[1].now;
  for (std::size_t i = 460 * 1024; i < disk.size(); i += 3 * 4096)  // in the slots
    disk[i] ^= std::byte{1};
  complete();
  ASSERT_TRUE(array->scrub_step(0, expected.size()));  // blocks that the rebuild did not need
  expect_rebuilt();
}

}  // namespace
}  // namespace calpe::array
