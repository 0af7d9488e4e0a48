// SPDX-License-Identifier: Apache-2.0
// What a commit and a checkpoint send to members, and which flushes share a commit.
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

#include "array/array.hpp"
#include "array/format/layout.hpp"
#include "support/memory_members.hpp"
#include "support/random_choice.hpp"

namespace calpe::array {
namespace {

using conformance::random_bytes;

constexpr std::uint64_t block = 4096;
constexpr std::uint64_t chunk = 4 * block;
constexpr unsigned data = 3;
constexpr unsigned parity = 2;

Settings settings() {
  Settings settings;
  settings.spec.data_shards = data;
  settings.spec.parity_shards = parity;
  settings.chunk_bytes = chunk;
  settings.bytes = chunk * data * 8;
  settings.log_bytes = 1 << 20;
  settings.spare_slots = 2;
  return settings;
}

struct Sent {
  unsigned in_log = 0;
  unsigned in_place = 0;
  std::uint64_t bytes_in_place = 0;
};

// An array with all stripes in slots. Counts the writes to its members.
class ArrayCommit : public testing::Test {
 protected:
  ArrayCommit() : members_(data + parity, 2 << 20) {
    Uuid uuid = {};
    uuid[0] = std::byte{7};
    EXPECT_TRUE(create(members_, settings(), uuid));
    open();
    bytes_ = random_bytes(settings().bytes, 1);
    EXPECT_TRUE(array_->write(0, bytes_, Durability::durable));
    EXPECT_TRUE(array_->checkpoint());
    members_.on_request = [this](const MemberRequest& request) {
      if (request.call != MemberCall::write) return;
      if (request.is_durable) {
        ++sent_.in_log;
      } else if (request.offset >= slots_at()) {
        ++sent_.in_place;
        sent_.bytes_in_place += request.bytes.size();
      }
    };
  }
  void open() {
    array_.reset();
    auto opened = Array::open(members_);
    ASSERT_TRUE(opened) << opened.error().message;
    array_ = *std::move(opened);
  }
  static std::uint64_t slots_at() {
    return layout_of(settings(), {.rotated = data + parity, .members_max = data + parity + 4})
        .slots_at;
  }
  Sent write(std::uint64_t offset, std::uint64_t count, Durability durability) {
    sent_ = {};
    const auto content = random_bytes(count, ++seed_);
    std::copy(content.begin(), content.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    const Status done = array_->write(offset, content, durability);
    EXPECT_TRUE(done) << done.error().message;
    return sent_;
  }
  void expect_all() {
    std::vector<std::byte> read(bytes_.size());
    const Status done = array_->read(0, read);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(read == bytes_);
  }

  MemoryMembers members_;
  std::unique_ptr<Array> array_;
  std::vector<std::byte> bytes_;
  Sent sent_;
  unsigned seed_ = 1;
};

TEST_F(ArrayCommit, WritesTheBatchBeforeInPlace) {
  const Sent first = write(0, block, Durability::durable);
  EXPECT_EQ(first.in_log, 1 + parity);
  EXPECT_EQ(first.in_place, 0U);
  expect_all();
  const Sent second = write(chunk * data, block, Durability::durable);
  EXPECT_EQ(second.in_log, 1 + parity);
  EXPECT_EQ(second.in_place, 1 + parity);
  expect_all();
  sent_ = {};
  EXPECT_TRUE(array_->checkpoint());
  EXPECT_EQ(sent_.in_place, 1 + parity);
  expect_all();
  sent_ = {};
  EXPECT_TRUE(array_->checkpoint());
  EXPECT_EQ(sent_.in_place, 0U);
}

TEST_F(ArrayCommit, WritesAdjacentBlocksInPlaceWithOneRequest) {
  write(chunk, chunk, Durability::durable);
  sent_ = {};
  EXPECT_TRUE(array_->checkpoint());
  EXPECT_EQ(sent_.in_place, 1 + parity);
  EXPECT_EQ(sent_.bytes_in_place, (1 + parity) * chunk);
  expect_all();
  open();
  expect_all();
}

TEST_F(ArrayCommit, WithoutAChangeWritesNothing) {
  write(0, block, Durability::durable);
  sent_ = {};
  EXPECT_TRUE(array_->flush());
  EXPECT_EQ(sent_.in_log + sent_.in_place, 0U);
}

// The member has its part of the log, but not the block in its slot.
TEST_F(ArrayCommit, AMemberThatFailsInPlaceIsOutBeforeTheNextBatchIsDurable) {
  write(0, block, Durability::durable);  // stripe 0: role 0 has the first block
  members_.disks[0].is_failing = true;
  write(chunk * data + 2 * chunk, block, Durability::durable);  // stripe 1: roles 1, 2 and 3
  EXPECT_EQ(array_->status().now.members[0].state, MemberState::out);
  expect_all();
  members_.disks[0].is_failing = false;
  members_.on_request = {};
  open();
  expect_all();
  ASSERT_TRUE(array_->readd(0));
  for (bool is_complete = false; !is_complete;) {
    const auto step = array_->rebuild_step(1 << 20);
    ASSERT_TRUE(step) << step.error().message;
    is_complete = step->is_complete;
  }
  members_.disks[1].is_failing = members_.disks[2].is_failing = true;
  expect_all();
}

TEST_F(ArrayCommit, ACheckpointFlushesBlocksBeforeItStopsCommits) {
  write(0, block, Durability::durable);
  std::vector<bool> is_free;
  members_.on_request = [&](const MemberRequest& request) {
    if (request.call != MemberCall::flush) return;
    std::thread([&] { is_free.push_back(array_->try_status().has_value()); }).join();
  };
  EXPECT_TRUE(array_->checkpoint());
  ASSERT_EQ(is_free.size(), 2U * (data + parity));
  for (std::size_t i = 0; i < is_free.size(); ++i)
    EXPECT_EQ(is_free[i], i < data + parity) << "flush " << i;
}

TEST_F(ArrayCommit, ALogIsHalfFullUntilACheckpoint) {
  const std::uint64_t commits = settings().log_bytes / 2 / (2 * block);  // header and one block
  for (std::uint64_t i = 0; i < commits; ++i) {
    EXPECT_FALSE(array_->is_log_half_full()) << i;
    write(0, block, Durability::durable);
  }
  EXPECT_FALSE(array_->is_log_half_full());
  write(0, block, Durability::durable);
  EXPECT_TRUE(array_->is_log_half_full());
  EXPECT_TRUE(array_->checkpoint());
  EXPECT_FALSE(array_->is_log_half_full());
}

// Durable writes wait for a permit, one for each commit. Thread-safe.
class GatedMembers final : public Members {
 public:
  explicit GatedMembers(MemoryMembers& members) : members_(members) {}
  unsigned count() const override { return members_.count(); }
  std::uint64_t bytes(unsigned member) const override { return members_.bytes(member); }
  void run(std::span<MemberRequest> batch) override {
    std::unique_lock lock(mutex_);
    const bool waits = is_gated_ && std::any_of(batch.begin(), batch.end(),
                                                [](const auto& one) { return one.is_durable; });
    if (waits) {
      ++waiting_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return permits_ != 0 || !is_gated_; });
      if (permits_ != 0) --permits_;
      --waiting_;
    }
    members_.run(batch);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    is_gated_ = true;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_gated_ = false;
    changed_.notify_all();
  }
  void wait_for_a_commit() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ != 0; });
  }
  // Lets one commit pass, and returns when the next one waits.
  void pass_one() {
    std::unique_lock lock(mutex_);
    ++permits_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return permits_ == 0 && waiting_ != 0; });
  }

 private:
  MemoryMembers& members_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_gated_ = false;
  unsigned permits_ = 0;
  unsigned waiting_ = 0;
};

// Two threads call flush() during a commit. The one that does not make the next commit must not
// make another one, although there are newer changes by then. A thread may be so late that it calls
// flush() after the next commit began, which needs a commit of its own; then the test tries again.
TEST(ArrayGroupCommit, FlushesThatWaitShareACommit) {
  MemoryMembers memory(data + parity, 2 << 20);
  GatedMembers members(memory);
  ASSERT_TRUE(create(members, settings(), Uuid{std::byte{8}}));
  auto opened = Array::open(members);
  ASSERT_TRUE(opened) << opened.error().message;
  Array& array = **opened;
  const auto write = [&](std::uint64_t stripe) {
    const auto content = random_bytes(block, stripe);
    ASSERT_TRUE(array.write(stripe * data * chunk, content, Durability::cached));
  };
  const auto flush = [&] { EXPECT_TRUE(array.flush()); };
  std::uint64_t commits = 0;
  for (int attempt = 0; attempt < 1000 && commits != 2; ++attempt) {
    const std::uint64_t before = array.status().commits;
    write(0);
    members.close();
    std::jthread first(flush);
    members.wait_for_a_commit();
    write(1);
    std::jthread second(flush);
    std::jthread third(flush);
    std::this_thread::yield();
    members.pass_one();
    write(2);
    members.open();
    first.join();
    second.join();
    third.join();
    commits = array.status().commits - before;
    EXPECT_TRUE(array.flush());  // the newest change, if it is left
  }
  EXPECT_EQ(commits, 2U);
}

}  // namespace
}  // namespace calpe::array
