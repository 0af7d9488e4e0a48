// SPDX-License-Identifier: Apache-2.0
// Arrays that grow onto larger members, and history that survives: errors by member and scrubs.
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "array/array.hpp"
#include "array/format/superblock.hpp"
#include "array/members/overlay_members.hpp"
#include "array/state/member_probe.hpp"
#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"
#include "support/memory_members.hpp"

namespace calpe::array {
namespace {

constexpr unsigned data = 3;
constexpr unsigned parity = 2;
constexpr unsigned roles = data + parity;
constexpr std::uint32_t chunk = 8192;
constexpr std::uint64_t stripe_bytes = std::uint64_t{data} * chunk;
constexpr std::uint64_t member_bytes = 1U << 20U;
constexpr unsigned fresh = roles;  // another place

class ArrayGrow : public testing::Test {
 protected:
  ArrayGrow() : members(roles + 1, member_bytes), expected(8 * stripe_bytes) {
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
    write(0, 6 * stripe_bytes);
  }

  void open() {
    array.reset();
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
    std::vector<std::byte> read(array->bytes());
    const Status done = array->read(0, read);
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_EQ(read, expected);
  }
  void grow(std::uint64_t bytes) {
    const Status grown = array->grow(bytes);
    ASSERT_TRUE(grown.has_value()) << grown.error().message;
    expected.resize(array->bytes());
  }
  std::string refusal(std::uint64_t bytes = 0) {
    const Status grown = array->grow(bytes);
    const auto checked = check_grow(members, bytes);
    EXPECT_FALSE(checked.has_value());
    return grown ? "" : grown.error().message;
  }
  void rebuild() {
    for (bool is_complete = false; !is_complete;) {
      const auto step = array->rebuild_step(4 * chunk, Progress::now);
      ASSERT_TRUE(step.has_value()) << step.error().message;
      is_complete = step->is_complete;
    }
  }
  void expect_sound() {
    std::uint64_t at = 0;
    while (at < array->bytes()) {
      const auto step = array->scrub_step(at, 5 * stripe_bytes);
      ASSERT_TRUE(step.has_value()) << step.error().message;
      EXPECT_EQ(std::accumulate(step->blocks_wrong.begin(), step->blocks_wrong.end(), 0U), 0U);
      EXPECT_EQ(step->columns_lost + step->columns_contradicting, 0U);
      at = step->next;
    }
  }
  MemberStatus member(unsigned role) { return array->status().now.members[role]; }
  std::uint32_t version_of(unsigned place, unsigned copy) {
    return load_little<std::uint32_t>(members.disks[place].now.data() + copy * 4096 + 8);
  }

  MemoryMembers members;
  std::vector<std::byte> expected;
  std::mt19937 random{1};
  std::unique_ptr<Array> array;
};

TEST_F(ArrayGrow, KeepsItsDataAndReadsZerosInTheNewPart) {
  const std::uint64_t before = array->bytes();
  const auto possible = check_grow(members, 0);
  ASSERT_TRUE(possible.has_value()) << possible.error().message;
  grow(0);
  EXPECT_EQ(array->bytes(), *possible);
  EXPECT_GT(array->bytes(), 3 * before);
  EXPECT_EQ(array->status().now.may_fail, parity);
  expect_readable();
  for (std::uint64_t at = 0; at < array->bytes(); at += stripe_bytes)
    write(at, at % (3 * stripe_bytes) == 0 ? stripe_bytes : 5000);
  expect_readable();
  expect_sound();
  ASSERT_TRUE(array->close().has_value());
  open();
  expect_readable();
  members.disks[1].is_failing = members.disks[3].is_failing = true;
  expect_readable();
}

// No capacity is left behind by small steps, apart from what each index needs.
TEST_F(ArrayGrow, InStepsUntilTheListIsFull) {
  for (unsigned i = 0; i < growths_max; ++i) {
    const std::uint64_t before = array->bytes();
    grow(before + 1);
    EXPECT_EQ(array->bytes(), before + stripe_bytes);
    write(before, stripe_bytes);
    write(before - 10, 20);
    if (i % 2 == 0) open();  // as after a crash
    expect_readable();
  }
  EXPECT_EQ(refusal(),
            "the array was grown 7 times, which is the most; copy the data to a new array (place "
            "0)");
  expect_sound();
}

TEST_F(ArrayGrow, MembersAreRebuiltAndCopiedOverAllSegments) {
  grow(20 * stripe_bytes);
  grow(0);
  for (std::uint64_t at = 0; at < array->bytes(); at += 2 * stripe_bytes)
    write(at, stripe_bytes);
  ASSERT_TRUE(array->replace(2, fresh).has_value());
  rebuild();
  EXPECT_EQ(member(2).place, fresh);
  expect_readable();
  ASSERT_TRUE(array->fail(4).has_value());
  write(0, 7 * stripe_bytes);
  ASSERT_TRUE(array->replace(4, 2).has_value());
  rebuild();
  EXPECT_EQ(array->status().now.may_fail, parity);
  expect_readable();
  expect_sound();
  members.disks[0].is_failing = members.disks[1].is_failing = true;
  expect_readable();
}

// A free slot at the end of a segment is written, to keep a disk in sequence, but not what follows.
TEST(ArrayGrowGap, ACopyLeavesTheIndexBetweenSegmentsAlone) {
  for (const bool is_later : {false, true}) {
    MemoryMembers members(roles + 1, 4U << 20U);
    members.disks[fresh].is_absent = true;
    Settings settings;
    settings.spec.data_shards = data;
    settings.spec.parity_shards = parity;
    settings.chunk_bytes = chunk;
    settings.bytes = 8 * stripe_bytes;
    settings.log_bytes = 64 * 1024;
    settings.spare_slots = 90;
    ASSERT_TRUE(create(members, settings, Uuid{std::byte{7}}).has_value());
    members.disks[fresh].is_absent = false;
    const auto array = *Array::open(members);
    ASSERT_TRUE(array->grow(9 * stripe_bytes).has_value());
    // Slots are taken in sequence: stripe 0 goes to slot 96, and stripe 1 over 97 to 98, the first
    // one of the new segment.
    const std::vector<std::byte> content(stripe_bytes, std::byte{5});
    for (unsigned slot = 0; slot < 99; ++slot) {
      const std::uint64_t at = slot < 97 ? 0 : stripe_bytes;
      ASSERT_TRUE(array->write(at, content, Durability::durable).has_value());
    }
    if (is_later) {  // in the other copy of the index
      ASSERT_TRUE(array->checkpoint().has_value());
    }
    ASSERT_TRUE(array->replace(2, fresh).has_value());
    for (bool is_complete = false; !is_complete;) {
      const auto step = array->rebuild_step(64 * chunk, Progress::when_due);
      ASSERT_TRUE(step.has_value()) << step.error().message;
      is_complete = step->is_complete;
    }
    const Shape shape = {.rotated = roles, .members_max = 9, .grown_from = {{{8, 90}}}};
    const MemberLayout layout = layout_of(array->settings(), shape);
    ASSERT_EQ(layout.segments[1].first_slot, 98U);
    const auto index_of = [&](unsigned place) {
      const auto from = members.disks[place].now.begin();
      return std::vector<std::byte>(
          from + static_cast<std::ptrdiff_t>(layout.index_at),
          from + static_cast<std::ptrdiff_t>(layout.segments[1].table_at));
    };
    EXPECT_EQ(index_of(fresh), index_of(0));
  }
}

TEST_F(ArrayGrow, ParityIsAddedToAGrownArray) {
  grow(0);
  write(array->bytes() - stripe_bytes, stripe_bytes);
  array.reset();
  const Status added = grow_parity(members, fresh);
  ASSERT_TRUE(added.has_value()) << added.error().message;
  open();
  rebuild();
  EXPECT_EQ(array->status().now.may_fail, parity + 1);
  for (const unsigned lost : {0U, 2U, 4U})
    members.disks[lost].is_failing = true;
  expect_readable();
}

TEST_F(ArrayGrow, OnlyIfAllMembersAreInAndLargeEnough) {
  ASSERT_TRUE(array->fail(1).has_value());
  EXPECT_EQ(refusal(), "1 members are out or rebuilding; all must be live");
  ASSERT_TRUE(array->readd(1).has_value());
  rebuild();
  ASSERT_TRUE(array->replace(2, fresh).has_value());
  EXPECT_EQ(refusal(), "member 2 is being replaced; wait until that is complete");
  ASSERT_TRUE(array->remove_spare(fresh).has_value());
  EXPECT_EQ(refusal(array->bytes()),
            "size is 196608; expected at least 221184, because the array has 196608 bytes (place "
            "0)");
  const std::uint64_t needed =
      layout_of(array->settings(), {.rotated = 5, .members_max = 9}).member_bytes;
  members.disks[fresh].now.resize(needed);
  ASSERT_TRUE(array->add(fresh).has_value());
  EXPECT_NE(refusal().find("(place 5)"), std::string::npos) << refusal();
  EXPECT_EQ(array->bytes(), expected.size());
  expect_readable();
}

TEST_F(ArrayGrow, WithAMemberThatFails) {
  // While the new index is written: the array stays as it was.
  std::uint64_t writes = 0;
  members.on_request = [&](const MemberRequest& request) {
    const bool is_new = request.call == MemberCall::write && request.offset >= 190 * 1024;
    if (is_new && ++writes == 3) members.disks[1].is_failing = true;
  };
  EXPECT_EQ(refusal(), "a member failed; the array has not grown");
  EXPECT_EQ(array->status().now.may_fail, parity - 1);
  expect_readable();
  write(0, 100);
  members.on_request = {};
  members.disks[1].is_failing = false;
  ASSERT_TRUE(array->readd(1).has_value());
  rebuild();
  // While the superblocks are written: it grows without the member.
  std::uint64_t superblocks = 0;
  members.on_request = [&](const MemberRequest& request) {
    const bool is_superblock = request.call == MemberCall::write && request.offset < 8192;
    if (is_superblock && request.member == 1 && ++superblocks == 2)
      members.disks[1].is_failing = true;
  };
  grow(0);
  members.on_request = {};
  EXPECT_EQ(array->status().now.may_fail, parity - 1);
  write(array->bytes() - 500, 500);
  members.disks[1].is_failing = false;
  ASSERT_TRUE(array->readd(1).has_value());
  rebuild();
  EXPECT_EQ(array->status().now.may_fail, parity);
  expect_readable();
  expect_sound();
  open();
  expect_readable();
}

// If the members that just grew cannot be opened, nothing more is written.
TEST_F(ArrayGrow, StopsIfItCannotBeOpenedAgain) {
  std::uint64_t superblocks = 0;
  members.on_request = [&](const MemberRequest& request) {
    const bool is_superblock = request.call == MemberCall::write && request.offset < 8192;
    if (!is_superblock) return;
    if (++superblocks == 2 * roles) {  // the checkpoint before, and the new size
      for (auto& disk : members.disks)
        disk.is_failing = true;
    }
  };
  EXPECT_FALSE(array->grow(0).has_value());
  members.on_request = {};
  for (auto& disk : members.disks)
    disk.is_failing = false;
  std::vector<std::byte> block(4096);
  EXPECT_FALSE(array->write(0, block, Durability::durable).has_value());
  EXPECT_NE(array->status().failed, "");
  open();
  expected.resize(array->bytes());
  expect_readable();
}

// Both copies, as an older version would use the older one.
TEST_F(ArrayGrow, OlderVersionsRefuseAllMembers) {
  for (unsigned role = 0; role < roles; ++role)
    EXPECT_EQ(version_of(role, 0) + version_of(role, 1), 2U);
  grow(0);
  for (unsigned role = 0; role < roles; ++role)
    EXPECT_EQ(version_of(role, 0) + version_of(role, 1), 4U);
}

TEST_F(ArrayGrow, UnknownFeaturesAllowReadingOnly) {
  ASSERT_TRUE(array->close().has_value());
  array.reset();
  for (unsigned role = 0; role < roles; ++role) {
    for (unsigned copy = 0; copy < 2; ++copy) {
      std::byte* const at = members.disks[role].now.data() + copy * 4096;
      store_little(at + 8, std::uint32_t{2});
      store_little(at + 116, std::uint32_t{4});
      store_little(at + 4088, store::plain_checksum(std::span(at, 4088)));
    }
  }
  const auto refused = Array::open(members);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("features 4 that this version does not know"),
            std::string::npos);
  OverlayMembers overlay(members);
  auto opened = Array::open(overlay, {.is_read_only = true});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  array = *std::move(opened);
  expect_readable();
}

TEST_F(ArrayGrow, ErrorsOfMembersSurviveUntilTheDiskIsReplaced) {
  members.disks[2].now[layout_of(array->settings(), {.rotated = 5, .members_max = 9}).slots_at] ^=
      std::byte{1};
  expect_readable();
  EXPECT_EQ(member(2).blocks_wrong, 1U);
  ASSERT_TRUE(array->flush().has_value());
  EXPECT_EQ(member(2).blocks_repaired, 1U);
  members.disks[4].is_failing = true;
  write(0, stripe_bytes);
  members.disks[4].is_failing = false;
  EXPECT_GE(member(4).write_errors, 1U);
  const std::uint64_t write_errors = member(4).write_errors;
  open();  // as after a crash
  EXPECT_EQ(member(2).blocks_wrong, 1U);
  EXPECT_EQ(member(2).blocks_repaired, 1U);
  EXPECT_EQ(member(4).write_errors, write_errors);
  const auto found = inspect(members);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->members[2].blocks_wrong, 1U);
  ASSERT_TRUE(array->readd(4).has_value());
  rebuild();
  EXPECT_EQ(member(4).write_errors, write_errors);
  grow(0);
  EXPECT_EQ(member(4).write_errors, write_errors);
  ASSERT_TRUE(array->replace(2, fresh).has_value());
  EXPECT_EQ(member(2).blocks_wrong, 1U);
  rebuild();
  EXPECT_EQ(member(2).blocks_wrong, 0U);
  open();
  EXPECT_EQ(member(2).blocks_wrong, 0U);
  EXPECT_EQ(member(4).write_errors, write_errors);
}

class Keeper final : public LeaseKeeper {
 public:
  std::uint64_t id() const noexcept override { return 5; }
  LeaseHolder holder() const override { return {}; }
  Status check_free() override { return Done{}; }
  void settle() override {}
  std::int64_t now() const override { return 0; }
  void set_renewed(std::int64_t /*when*/) noexcept override {}
  bool is_due() const override { return false; }
  bool is_late() const override { return false; }
};

// An idle array writes nothing else.
TEST_F(ArrayGrow, ARenewalOfTheLeaseStoresErrors) {
  ASSERT_TRUE(array->close().has_value());
  Keeper keeper;
  array = *Array::open(members, {.lease = &keeper});
  members.disks[2].now[layout_of(array->settings(), {.rotated = 5, .members_max = 9}).slots_at] ^=
      std::byte{1};
  expect_readable();
  const std::uint64_t epoch = inspect(members)->epoch;
  ASSERT_TRUE(array->renew_lease().has_value());
  EXPECT_EQ(inspect(members)->epoch, epoch);
  EXPECT_EQ(inspect(members)->members[2].blocks_wrong, 1U);
  // The same lease, before and after it grows.
  grow(0);
  EXPECT_EQ(inspect(members)->lease_id, 5U);
  ASSERT_TRUE(array->renew_lease().has_value());
  expect_readable();
  ASSERT_TRUE(array->close().has_value());
  array.reset();
}

TEST_F(ArrayGrow, ScrubsAreRecorded) {
  const ScrubHistory history = {.begun = 100,
                                .next = stripe_bytes,
                                .found = {1, 2, 3},
                                .complete = 5,
                                .last_begun = 10,
                                .last_end = 20,
                                .last_found = {4, 5, 6}};
  ASSERT_TRUE(array->record_scrub(history).has_value());
  EXPECT_EQ(array->status().now.scrub, history);
  ASSERT_TRUE(array->checkpoint().has_value());
  open();
  EXPECT_EQ(array->status().now.scrub, history);
  // Positions have other slots afterwards.
  grow(0);
  ScrubHistory grown = history;
  grown.next = 0;
  EXPECT_EQ(array->status().now.scrub, grown);
  EXPECT_EQ(inspect(members)->scrub, grown);
}

}  // namespace
}  // namespace calpe::array
