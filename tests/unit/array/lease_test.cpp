// SPDX-License-Identifier: Apache-2.0
// The lease of an open array, with a simulated clock. A server that was suspended does not
// overwrite the writes of another, and a long recovery keeps its lease.
#include <gtest/gtest.h>

#include "array/array.hpp"
#include "array/state/member_probe.hpp"
#include "base/text.hpp"
#include "support/memory_members.hpp"
#include "support/random_choice.hpp"

namespace calpe::array {
namespace {

using conformance::random_bytes;

class TestLease final : public LeaseKeeper {
 public:
  explicit TestLease(std::uint64_t id) : id_(id) {}
  std::uint64_t id() const noexcept override { return id_; }
  LeaseHolder holder() const override { return {}; }
  Status check_free() override { return is_free ? Status(Done{}) : invalid("it is taken"); }
  void settle() override {}
  std::int64_t now() const override { return time += step; }
  void set_renewed(std::int64_t when) noexcept override {
    renewed_at_ = when;
    ++renewals;
  }
  bool is_due() const override { return now() - renewed_at_ >= 1000; }
  bool is_late() const override { return now() - renewed_at_ > 3000; }

  mutable std::int64_t time = 0;
  std::int64_t step = 0;  // added by each call of now()
  bool is_free = true;
  unsigned renewals = 0;

 private:
  std::uint64_t id_;
  std::int64_t renewed_at_ = 0;
};

class ArrayLease : public testing::Test {
 protected:
  ArrayLease() {
    Settings settings;
    settings.spec.data_shards = 2;
    settings.spec.parity_shards = 1;
    settings.chunk_bytes = 8192;
    settings.bytes = bytes;
    settings.log_bytes = 65536;
    EXPECT_TRUE(create(members, settings, Uuid{std::byte{3}}));
  }
  std::unique_ptr<Array> open(TestLease& lease) {
    auto array = Array::open(members, {.lease = &lease});
    EXPECT_TRUE(array) << array.error().message;
    return *std::move(array);
  }
  std::uint64_t lease_on(unsigned place) { return look_at(members, place).superblock->lease.id; }

  static constexpr std::uint64_t bytes = 12 * 2 * 8192;
  MemoryMembers members{3, 1 << 20};
};

TEST_F(ArrayLease, AServerThatWasSuspendedWritesNothingMore) {
  // Whole stripes bypass the log; parts of a stripe go through it.
  for (const std::uint64_t length : {std::uint64_t{512}, std::uint64_t{2} * 8192}) {
    TestLease first(11);
    const auto old = open(first);
    ASSERT_TRUE(old->write(0, random_bytes(bytes, 1), Durability::durable));
    first.time += 60'000;
    TestLease second(12);
    const auto array = open(second);
    const auto newer = random_bytes(bytes, 2);
    ASSERT_TRUE(array->write(0, newer, Durability::durable));
    const auto late = random_bytes(length, 3);
    const bool is_written = old->write(0, late, Durability::durable).has_value();
    EXPECT_FALSE(is_written) << length;
    EXPECT_FALSE(old->checkpoint());
    EXPECT_FALSE(old->flush());
    EXPECT_FALSE(old->renew_lease());
    std::vector<std::byte> now(bytes);
    ASSERT_TRUE(array->renew_lease());
    ASSERT_TRUE(array->read(0, now));
    EXPECT_EQ(now, newer);
    EXPECT_EQ(lease_on(0), 12U);
    ASSERT_TRUE(array->close());
  }
}

TEST_F(ArrayLease, ALateServerThatStillHoldsItContinues) {
  TestLease lease(11);
  const auto array = open(lease);
  lease.time += 60'000;
  ASSERT_TRUE(array->write(0, random_bytes(bytes, 1), Durability::durable));
  EXPECT_TRUE(array->renew_lease());
}

TEST_F(ArrayLease, ALongOpeningRenewsIt) {
  {
    TestLease lease(11);
    const auto array = open(lease);
    ASSERT_TRUE(array->write(0, random_bytes(512, 1), Durability::durable));
    EXPECT_EQ(lease.renewals, 1U) << "claimed once, never late";
  }  // without close(), so that there is something to recover
  TestLease slow(12);
  slow.step = 400;
  const auto array = open(slow);
  EXPECT_GT(slow.renewals, 3U);
  const unsigned renewals = slow.renewals;
  std::vector<std::byte> some(512);
  ASSERT_TRUE(array->read(0, some));
  EXPECT_EQ(some, random_bytes(512, 1));
  EXPECT_EQ(slow.renewals, renewals) << "the caller renews from now on";
}

// The lease may become due at any time, also just before another superblock is written.
TEST_F(ArrayLease, NoSuperblockIsWrittenOverTheNewest) {
  for (std::int64_t step = 20; step < 1200; step += 20) {
    unsigned overwritten = 0;
    unsigned written = 0;
    bool is_looking = false;
    members.on_request = [&](const MemberRequest& request) {
      const bool is_superblock = request.offset < 2 * block_bytes && request.bytes.size() == 4096;
      if (is_looking || request.call != MemberCall::write || !is_superblock) return;
      is_looking = true;
      const FoundPlace found = look_at(members, request.member);
      is_looking = false;
      ++written;
      overwritten += found.superblock && request.offset == found.copy * block_bytes ? 1 : 0;
    };
    TestLease lease(100 + static_cast<std::uint64_t>(step));
    lease.step = step;
    const auto array = open(lease);
    ASSERT_TRUE(array->write(0, random_bytes(512, 1), Durability::durable));
    EXPECT_GE(written, 6U);
    EXPECT_EQ(overwritten, 0U) << "each call of now() takes " << step << " ms";
  }
  members.on_request = {};
}

TEST_F(ArrayLease, DoesNotClaimALeaseThatWasJustTaken) {
  TestLease lease(11);
  lease.is_free = false;
  EXPECT_FALSE(Array::open(members, {.lease = &lease}));
  EXPECT_EQ(lease_on(0), 0U);
}

TEST_F(ArrayLease, ReadOnlyArraysRefuseChanges) {
  auto array = Array::open(members, {.is_read_only = true});
  ASSERT_TRUE(array) << array.error().message;
  Array& reader = **array;
  EXPECT_FALSE(reader.write(0, random_bytes(512, 1), Durability::cached));
  EXPECT_FALSE(reader.zero(0, 4096, Durability::cached));
  EXPECT_FALSE(reader.trim(0, 4096, Durability::cached));
  EXPECT_FALSE(reader.fail(0));
  EXPECT_FALSE(reader.scrub_step(0, 4096));
  std::vector<std::byte> some(512);
  EXPECT_TRUE(reader.read(0, some));
}

}  // namespace
}  // namespace calpe::array
