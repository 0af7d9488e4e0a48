// SPDX-License-Identifier: Apache-2.0
// Members that stop answering, and answer again later: alone and below an array.
#include "array/members/deadline_members.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "array/array.hpp"
#include "support/memory_members.hpp"
#include "support/random_choice.hpp"

namespace calpe::array {
namespace {

using conformance::random_bytes;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr std::uint64_t member_bytes = std::uint64_t{2} << 20U;
constexpr milliseconds deadline(500);

// Requests to a hung disk wait until it answers, and are carried out then.
class HangingMembers final : public Members {
 public:
  HangingMembers(unsigned count, std::uint64_t bytes) : disks_(count, bytes) {}

  unsigned count() const override { return disks_.count(); }
  std::uint64_t bytes(unsigned member) const override { return disks_.bytes(member); }
  void run(std::span<MemberRequest> batch) override {
    for (MemberRequest& request : batch) {
      std::unique_lock lock(mutex_);
      ++waiting_;
      changed_.wait(lock, [&] { return (hung_ >> request.member & 1U) == 0 || let_ != 0; });
      if ((hung_ >> request.member & 1U) != 0) --let_;
      --waiting_;
      disks_.run(std::span(&request, 1));
    }
  }
  void hang(std::uint64_t places) {
    const std::lock_guard lock(mutex_);
    hung_ = places;
    changed_.notify_all();
  }
  // Lets one waiting request continue.
  void let_one() {
    const std::lock_guard lock(mutex_);
    ++let_;
    changed_.notify_all();
  }
  unsigned waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  // A copy of what survives a power loss now.
  MemoryMembers durable() {
    const std::lock_guard lock(mutex_);
    MemoryMembers copy = disks_;
    for (MemoryMembers::Disk& disk : copy.disks)
      disk.now = disk.durable;
    return copy;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t hung_ = 0;
  unsigned waiting_ = 0;
  unsigned let_ = 0;
  MemoryMembers disks_;
};

template <class Condition>
bool wait_for(const Condition& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

class DeadlineMembersTest : public ::testing::Test {
 protected:
  explicit DeadlineMembersTest(milliseconds after = deadline)
      : members_(disks_, after, [](unsigned place) { return place != 5; }) {}
  ~DeadlineMembersTest() override { disks_->hang(0); }

  std::optional<Error> run(MemberCall call, unsigned member, std::span<std::byte> bytes) {
    MemberRequest request{.call = call, .member = member, .offset = 4096, .bytes = bytes};
    members_.run(std::span(&request, 1));
    return request.error;
  }

  std::shared_ptr<HangingMembers> disks_ = std::make_shared<HangingMembers>(6, member_bytes);
  DeadlineMembers members_;
};

TEST_F(DeadlineMembersTest, RequestsPassBothWays) {
  std::vector<std::byte> bytes = random_bytes(8192, 1);
  std::vector<std::byte> back(8192);
  for (unsigned member = 0; member < 6; ++member) {
    EXPECT_FALSE(run(MemberCall::write, member, bytes));
    EXPECT_FALSE(run(MemberCall::flush, member, {}));
    EXPECT_FALSE(run(MemberCall::read, member, back));
    EXPECT_EQ(back, bytes);
    std::fill(back.begin(), back.end(), std::byte{0});
  }
  std::vector<MemberRequest> batch;
  std::vector<std::vector<std::byte>> parts(12, std::vector<std::byte>(4096));
  for (unsigned i = 0; i < 12; ++i) {
    batch.push_back({.member = i % 6, .offset = 4096 + i / 6 * 4096, .bytes = parts[i]});
  }
  members_.run(batch);
  for (unsigned i = 0; i < 12; ++i) {
    EXPECT_FALSE(batch[i].error);
    EXPECT_TRUE(std::equal(parts[i].begin(), parts[i].end(), bytes.begin() + i / 6 * 4096)) << i;
  }
}

TEST_F(DeadlineMembersTest, OnlyTheMemberThatHangsFails) {
  disks_->hang(1U << 2U);
  std::vector<std::vector<std::byte>> parts(6, std::vector<std::byte>(4096, std::byte{9}));
  std::vector<MemberRequest> batch;
  for (unsigned i = 0; i < 6; ++i)
    batch.push_back({.member = i, .offset = 4096, .bytes = parts[i]});
  members_.run(batch);
  for (unsigned i = 0; i < 6; ++i)
    EXPECT_EQ(batch[i].error.has_value(), i == 2) << i;
  ASSERT_TRUE(batch[2].error);
  EXPECT_THAT(batch[2].error->message, HasSubstr("place 2 did not answer for 0.5 s"));
  EXPECT_EQ(members_.hung(), 1U << 2U);
  EXPECT_FALSE(members_.call(2, [] { ADD_FAILURE() << "it ran"; }));
  // Later requests fail at once, and never reach the member.
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(run(MemberCall::write, 2, parts[0]));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 100 * deadline / 2);
  EXPECT_EQ(disks_->waiting(), 1U);
  EXPECT_EQ(members_.take_returned(), 0U);
  // The buffer of a caller that gave up is not written later.
  disks_->hang(0);
  EXPECT_TRUE(wait_for([&] { return members_.hung() == 0; }));
  EXPECT_EQ(parts[2], std::vector<std::byte>(4096, std::byte{9}));
  EXPECT_EQ(members_.take_returned(), 1U << 2U);
  EXPECT_EQ(members_.take_returned(), 0U);
  EXPECT_FALSE(run(MemberCall::read, 2, parts[2]));
  EXPECT_EQ(parts[2], std::vector<std::byte>(4096, std::byte{0xEE}));
}

TEST_F(DeadlineMembersTest, AMemberIsHungUntilItsLastRequestHasEnded) {
  DeadlineMembers members(disks_, milliseconds(2000), [](unsigned) { return true; });
  const auto fails = [&] {
    std::vector<std::byte> bytes(4096);
    MemberRequest request{.call = MemberCall::write, .member = 1, .bytes = bytes};
    members.run(std::span(&request, 1));
    return request.error.has_value();
  };
  disks_->hang(1U << 1U);
  std::thread other([&] { EXPECT_TRUE(fails()); });
  ASSERT_TRUE(wait_for([&] { return disks_->waiting() == 1; }));
  EXPECT_TRUE(fails());
  other.join();
  ASSERT_EQ(disks_->waiting(), 2U);
  disks_->let_one();
  ASSERT_TRUE(wait_for([&] { return disks_->waiting() == 1; }));
  std::this_thread::sleep_for(deadline);
  EXPECT_EQ(members.hung(), 1U << 1U);
  EXPECT_EQ(members.take_returned(), 0U);
  EXPECT_TRUE(fails());
  disks_->hang(0);
  EXPECT_TRUE(wait_for([&] { return members.hung() == 0; }));
  EXPECT_FALSE(fails());
}

TEST_F(DeadlineMembersTest, AMemberThatIsNeededIsWaitedFor) {
  members_.set_can_do_without([](std::uint64_t places) { return places == 1U << 0U; });
  disks_->hang(3);
  std::vector<std::byte> bytes(4096);
  EXPECT_TRUE(run(MemberCall::read, 0, bytes));
  std::atomic<bool> is_back = false;
  std::thread other([&] {
    std::vector<std::byte> more(4096);
    EXPECT_FALSE(run(MemberCall::read, 1, more));
    is_back = true;
  });
  std::this_thread::sleep_for(3 * deadline);
  EXPECT_FALSE(is_back);
  EXPECT_EQ(members_.hung(), 1U);
  disks_->hang(0);
  other.join();
}

TEST_F(DeadlineMembersTest, EndsAlthoughAMemberHangs) {
  disks_->hang(1);
  std::vector<std::byte> bytes(4096);
  {
    DeadlineMembers short_lived(disks_, deadline, [](unsigned) { return true; });
    MemberRequest request{.call = MemberCall::write, .bytes = bytes};
    short_lived.run(std::span(&request, 1));
    EXPECT_TRUE(request.error);
  }
  EXPECT_EQ(disks_->waiting(), 1U);
  disks_->hang(0);
  EXPECT_TRUE(wait_for([&] { return disks_.use_count() == 2; }));  // ours and members_
}

TEST_F(DeadlineMembersTest, ThreadsStartAgainAfterAFork) {
  std::vector<std::byte> bytes(4096);
  EXPECT_FALSE(run(MemberCall::write, 0, bytes));
  members_.before_fork();
  EXPECT_TRUE(wait_for([&] { return disks_.use_count() == 2; }));
  members_.after_fork();
  EXPECT_FALSE(run(MemberCall::write, 0, bytes));
}

// 4+2 on members that may hang.
class HungArray : public DeadlineMembersTest {
 protected:
  explicit HungArray(milliseconds after = deadline) : DeadlineMembersTest(after) {
    Settings settings;
    settings.spec = {.data_shards = 4, .parity_shards = 2};
    settings.chunk_bytes = 8192;
    settings.bytes = std::uint64_t{4} * 8192 * 16;
    settings.log_bytes = 256 * 1024;
    EXPECT_TRUE(create(members_, settings, {std::byte{3}}));
    auto opened = Array::open(members_);
    EXPECT_TRUE(opened) << opened.error().message;
    array_ = *std::move(opened);
    members_.set_can_do_without(
        [this](std::uint64_t places) { return array_->can_do_without(places); });
    content_ = random_bytes(array_->bytes(), 4);
    EXPECT_TRUE(array_->write(0, content_, Durability::durable));
  }
  ~HungArray() override { disks_->hang(0); }

  void write(std::uint64_t offset, std::size_t count, unsigned seed) {
    const std::vector<std::byte> bytes = random_bytes(count, seed);
    const Status done = array_->write(offset, bytes, Durability::durable);
    ASSERT_TRUE(done) << done.error().message;
    std::copy(bytes.begin(), bytes.end(), content_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  static std::vector<std::byte> read(Array& array) {
    std::vector<std::byte> all(array.bytes());
    const Status done = array.read(0, all);
    EXPECT_TRUE(done) << done.error().message;
    return all;
  }
  MemberState state(unsigned role) { return array_->status().now.members[role].state; }
  // Power loss now: what was acknowledged is there, and the hung member is not believed.
  void expect_durable(unsigned hung) {
    MemoryMembers after = disks_->durable();
    const auto opened = Array::open(after);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ((*opened)->status().now.members[hung].state, MemberState::out);
    EXPECT_EQ(read(**opened), content_);
  }

  std::unique_ptr<Array> array_;
  std::vector<std::byte> content_;
};

TEST_F(HungArray, WritesGoOnWithoutTheMember) {
  for (unsigned role = 0; role < 2; ++role) {
    disks_->hang((2U << role) - 1);
    write(4096 * role, 4096, 10 + role);
    EXPECT_EQ(state(role), MemberState::out);
    expect_durable(role);
    EXPECT_EQ(read(*array_), content_);
  }
  EXPECT_EQ(array_->status().now.may_fail, 0U);
}

TEST_F(HungArray, LateWritesHurtNothing) {
  for (unsigned round = 0; round < 4; ++round) {
    const unsigned role = round;
    disks_->hang(1U << role);
    write(8192 * round, 3 * 8192, 20 + round);
    write(8192 * round, 8192, 30 + round);  // other bytes at the same place, without the member
    ASSERT_EQ(state(role), MemberState::out);
    const Status early = array_->readd(role);
    EXPECT_FALSE(early);  // it still hangs
    disks_->hang(0);
    ASSERT_TRUE(wait_for([&] { return members_.hung() == 0; }));
    expect_durable(role);
    EXPECT_EQ(read(*array_), content_);
    const Status back = array_->readd(role);
    ASSERT_TRUE(back) << back.error().message;
    while (true) {
      const auto step = array_->rebuild_step(1U << 20U);
      ASSERT_TRUE(step) << step.error().message;
      if (step->is_complete) break;
    }
    EXPECT_EQ(state(role), MemberState::in);
    // It has the right bytes: without two others they are all needed.
    MemoryMembers after = disks_->durable();
    after.disks[(role + 1) % 6].is_absent = after.disks[(role + 2) % 6].is_absent = true;
    const auto opened = Array::open(after);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(read(**opened), content_);
  }
}

TEST_F(HungArray, ReadsDoNotNeedTheMember) {
  disks_->hang(1U << 3U);
  EXPECT_EQ(read(*array_), content_);
  EXPECT_GT(array_->status().now.members[3].read_errors, 0U);
}

class SlowArray : public HungArray {
 protected:
  SlowArray() : HungArray(std::chrono::hours(1)) {}
};

TEST_F(SlowArray, StatusDoesNotWaitForACommit) {
  const ArrayStatus before = array_->status();
  ASSERT_TRUE(array_->try_status());
  disks_->hang(1);
  std::thread writer([&] { write(0, 4096, 40); });
  ASSERT_TRUE(wait_for([&] { return !array_->try_status(); }));
  const ArrayStatus now = array_->status_now(before);
  EXPECT_EQ(now.now.epoch, before.now.epoch);
  EXPECT_EQ(now.now.members.size(), 6U);
  EXPECT_EQ(now.stripes_mapped, before.stripes_mapped);
  disks_->hang(0);
  writer.join();
  EXPECT_EQ(array_->status().commits, before.commits + 1);
}

}  // namespace
}  // namespace calpe::array
