// SPDX-License-Identifier: Apache-2.0
// Many threads write to their own blocks of one array, while another thread scrubs, fails a member
// and rebuilds it. Then the power is cut, and all flushed blocks must be there. Also runs under
// TSan. Races may need thousands of seeds, so CALPE_NIGHTLY=1 runs more.
#include <gtest/gtest.h>
#include <iostream>
#include <mutex>
#include <thread>

#include "array/judged_array.hpp"

namespace calpe::tests {
namespace {

constexpr unsigned threads = 4;
constexpr std::uint64_t block = 4096;

// Serialises requests, as simulated disks are not thread-safe. Requests of batches interleave.
class SharedMembers final : public array::Members {
 public:
  explicit SharedMembers(SimulatedMembers& members) : members_(members) {}
  unsigned count() const override { return members_.count(); }
  std::uint64_t bytes(unsigned member) const override {
    const std::lock_guard lock(mutex_);
    return members_.bytes(member);
  }
  // A flush covers only writes that returned before it was called, so flushes run first.
  void run(std::span<MemberRequest> batch) override {
    for (const bool flushes : {true, false}) {
      for (MemberRequest& request : batch) {
        if ((request.call == MemberCall::flush) != flushes) continue;
        const std::lock_guard lock(mutex_);
        members_.run(std::span(&request, 1));
      }
    }
  }

 private:
  mutable std::mutex mutex_;
  SimulatedMembers& members_;
};

// Writes blocks first, first + threads, ... Neighbouring blocks belong to other threads.
class Writer {
 public:
  Writer(Array& array, unsigned first, std::uint64_t seed)
      : array_(array), first_(first), random_(seed), model_(array.bytes()) {}

  void run(unsigned operations) {
    for (unsigned i = 0; i < operations && wrong_.empty(); ++i) {
      const std::uint64_t blocks = array_.bytes() / block / threads;
      const std::uint64_t at = block * (first_ + threads * random_.below(blocks));
      switch (random_.below(8)) {
        case 0:
          expect(array_.flush());
          model_.settle_all();
          break;
        case 1:
        case 2:
          read(at);
          break;
        default:
          write(at, random_.one_in(6) ? Durability::durable : Durability::cached);
      }
    }
  }
  // After the power cut each own block must be old or new.
  std::string judge(std::span<const std::byte> all) const {
    for (std::uint64_t at = block * first_; at < all.size(); at += threads * block) {
      const std::string differs =
          model_.compare_block_after_cut(at / block, all.subspan(at, block));
      if (!differs.empty()) return differs;
    }
    return wrong_;
  }

 private:
  void expect(const Status& status) {
    if (!status && wrong_.empty()) wrong_ = status.error().message;
  }
  void write(std::uint64_t at, Durability durability) {
    std::vector<std::byte> content(block);
    random_.fill(content);
    model_.write(at, content);
    expect(array_.write(at, content, durability));
    if (durability == Durability::durable) model_.settle(at, block);
  }
  void read(std::uint64_t at) {
    std::vector<std::byte> content(block);
    expect(array_.read(at, content));
    if (wrong_.empty()) wrong_ = model_.compare(at, content);
  }

  Array& array_;
  unsigned first_;
  Random random_;
  ArrayModel model_;
  std::string wrong_;
};

void upkeep(Array& array, std::uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < 60; ++i) {
    const auto step = array.rebuild_step(8192);
    ASSERT_TRUE(step.has_value()) << step.error().message;
    const auto scrubbed = array.scrub_step(block * random.below(array.bytes() / block), 65536);
    ASSERT_TRUE(scrubbed.has_value()) << scrubbed.error().message;
    ASSERT_EQ(scrubbed->columns_lost, 0U);
    ASSERT_EQ(scrubbed->columns_contradicting, 0U);
    if (random.one_in(8)) {
      const Status done = array.checkpoint();
      ASSERT_TRUE(done.has_value()) << done.error().message;
    }
    if (!step->is_complete || !random.one_in(6)) continue;
    const auto role = static_cast<unsigned>(random.below(6));
    const Status failed = array.fail(role);
    ASSERT_TRUE(failed.has_value()) << failed.error().message;
    const Status back = array.readd(role);
    ASSERT_TRUE(back.has_value()) << back.error().message;
  }
}

void run_once(std::uint64_t seed) {
  SimulatedMembers disks(6, 400 * 1024);
  SharedMembers members(disks);
  const array::Settings settings = {.spec = {.data_shards = 4, .parity_shards = 2},
                                    .bytes = 4 * 8192 * std::uint64_t{8},
                                    .chunk_bytes = 8192,
                                    .log_bytes = 48 * 1024,
                                    .spare_slots = 2};
  ASSERT_TRUE(array::create(members, settings, uuid_of(seed)).has_value());
  auto array = Array::open(members);
  ASSERT_TRUE(array.has_value()) << array.error().message;
  std::vector<Writer> writers;
  for (unsigned i = 0; i < threads; ++i) {
    writers.emplace_back(**array, i, seed * threads + i);
  }
  {
    std::vector<std::jthread> running;
    for (Writer& writer : writers) {
      running.emplace_back([&writer] { writer.run(150); });
    }
    upkeep(**array, seed);
  }
  array->reset();
  Random random(seed);
  disks.cut_power_at_random(random);
  std::vector<std::byte> all(settings.bytes);
  ASSERT_EQ(open_and_read(disks, all), "");
  for (const Writer& writer : writers) {
    ASSERT_EQ(writer.judge(all), "");
  }
}

TEST(ArrayThreads, FlushedBlocksOutliveThePower) {
  const std::uint64_t seeds = std::getenv("CALPE_NIGHTLY") != nullptr ? 4000 : 40;
  for (std::uint64_t i = 0; i < seeds && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(text("seed ", array_seed() + i, " (threads: need not fail again)"));
    run_once(array_seed() + i);
  }
}

}  // namespace
}  // namespace calpe::tests
