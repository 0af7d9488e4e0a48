// SPDX-License-Identifier: Apache-2.0
// Counters and lists of changes, which replace walks over the whole array, compared with such
// walks after random operations.
#include <cstring>
#include <gtest/gtest.h>
#include <random>

#include "array/array.hpp"
#include "array/core/opening.hpp"
#include "array/core/status.hpp"
#include "support/memory_members.hpp"

namespace calpe::array {
namespace {

constexpr unsigned roles = 5;
constexpr std::uint64_t chunk = 4096;
constexpr std::uint64_t stripes = 3000;  // three pages of slots

Settings settings() {
  Settings settings;
  settings.spec.data_shards = 3;
  settings.spec.parity_shards = 2;
  settings.chunk_bytes = chunk;
  settings.bytes = stripes * 3 * chunk;
  settings.log_bytes = 1U << 18U;
  settings.spare_slots = 8;
  return settings;
}

// Counts all stripes of the same bytes.
Index counted_again(Index& index, const MemberLayout& layout) {
  Index again(layout);
  std::memcpy(again.bytes().data(), index.bytes().data(), index.bytes().size());
  EXPECT_TRUE(again.check_root(index.root()));
  return again;
}

std::uint64_t walked(const Index& index, bool is_missed) {
  std::uint64_t count = 0;
  for (std::uint64_t stripe = 0; stripe < stripes; ++stripe) {
    const bool is_one = is_missed ? index.is_missed(stripe) : index.slot_of(stripe) != no_slot;
    count += is_one ? 1 : 0;
  }
  return count;
}

TEST(ArrayCounters, AnIndexListsWhatChanged) {
  const MemberLayout layout = layout_of(settings(), {.rotated = roles, .members_max = roles + 1});
  Index index(layout);
  std::mt19937 random(1);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  std::array<std::vector<std::byte>, 2> copies;
  copies.fill(std::vector<std::byte>(index.bytes().size()));
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t stripe = below(stripes);
    const std::uint64_t kind = below(100);
    if (kind < 40) {
      const bool is_hole = below(3) == 0;
      index.set_slot(stripe, is_hole ? no_slot : static_cast<std::uint32_t>(below(stripes)));
    } else if (kind < 60) {
      index.set_missed(stripe);
    } else if (kind < 80) {
      index.set_digest(static_cast<unsigned>(below(roles)), below(layout.table_pages), random());
    } else if (kind < 82) {
      index.clear_missed();
    } else if (kind < 83) {
      index.set_all_changed();
    } else if (kind < 86) {
      index.set_changed(below(layout.index_pages));
    } else {
      const auto copy = static_cast<unsigned>(below(2));
      std::uint64_t next = 0;
      index.for_each_changed(copy, [&](std::uint64_t page, std::span<std::byte> bytes) {
        EXPECT_GE(page, next);  // in order, once
        next = page + 1;
        std::copy(bytes.begin(), bytes.end(),
                  copies[copy].begin() + static_cast<std::ptrdiff_t>(page * block_bytes));
      });
      index.set_written(copy);
      ASSERT_TRUE(std::ranges::equal(copies[copy], index.bytes())) << round;
    }
    ASSERT_EQ(index.mapped_count(), walked(index, false)) << round;
    ASSERT_EQ(index.missed_count(), walked(index, true)) << round;
  }
  const Index again = counted_again(index, layout);
  EXPECT_EQ(index.mapped_count(), again.mapped_count());
  EXPECT_EQ(index.missed_count(), again.missed_count());
}

class Trial {
 public:
  Trial() {
    EXPECT_TRUE(create(members_, settings(), {std::byte{9}}));
    reopen();
  }
  void reopen() {
    array_.reset();
    auto array = open_array(members_, {});
    ASSERT_TRUE(array) << array.error().message;
    array_ = *std::move(array);
  }
  void step(std::mt19937& random) {
    const std::uint64_t stripe = random() % (stripes - 20);
    const std::vector<std::byte> bytes((random() % 20 + 1) * chunk,
                                       static_cast<std::byte>(random()));
    const std::uint64_t at = stripe * 3 * chunk;
    const auto role = static_cast<unsigned>(random() % roles);
    switch (random() % 12) {
      case 0:
        return expect(array_->writer.trim(at, bytes.size()));
      case 1:
        return expect(array_->writer.zero(at, bytes.size()));
      case 2:
        return expect(array_->log.checkpoint());
      case 3:
        if (array_->shared.roster.may_fail() == 0) return;
        static_cast<void>(array_->admin.fail(role));  // it may be out
        return;
      case 4:
      case 5:
        static_cast<void>(array_->admin.readd(role));  // it may be in
        return;
      case 6:
      case 7: {
        const auto done =
            array_->rebuild.step(random() % 2 == 0 ? 1U << 20U : 1U << 30U, Progress::now);
        EXPECT_TRUE(done) << done.error().message;
        return;
      }
      case 8:
        if (random() % 4 == 0) reopen();
        return;
      default:
        expect(array_->writer.write(at, bytes));
        return expect(array_->log.commit());
    }
  }
  void compare() {
    Index& index = array_->shared.index;
    const ArrayStatus status = status_of(*array_);
    EXPECT_EQ(status.stripes_mapped, walked(index, false));
    EXPECT_EQ(status.stripes_missed, walked(index, true));
    most_missed = std::max(most_missed, status.stripes_missed);
    most_mapped = std::max(most_mapped, status.stripes_mapped);
  }
  // After a checkpoint the valid copy on every live member has the bytes in memory.
  void compare_copies() {
    expect(array_->log.checkpoint());
    const SharedState& shared = array_->shared;
    const auto expected = array_->shared.index.bytes();
    const Log::Locked log(array_->log);
    const std::uint64_t at = shared.layout.copy_at(log.superblocks().newest().index_copy);
    for (unsigned role = 0; role < roles; ++role) {
      if (!shared.roster.is_live(role)) continue;
      const auto& disk = members_.disks[shared.roster.place(role)].now;
      EXPECT_EQ(std::memcmp(disk.data() + at, expected.data(), expected.size()), 0) << role;
    }
  }

  std::uint64_t most_missed = 0;
  std::uint64_t most_mapped = 0;

 private:
  static void expect(const Status& done) { EXPECT_TRUE(done) << done.error().message; }

  MemoryMembers members_{roles, 16U << 20U};
  std::unique_ptr<OpenArray> array_;
};

TEST(ArrayCounters, MatchAWalkAfterRandomOperations) {
  Trial trial;
  std::mt19937 random(2);
  for (int round = 0; round < 400; ++round) {
    trial.step(random);
    trial.compare();
    if (round % 20 == 0) trial.compare_copies();
    if (::testing::Test::HasFailure()) FAIL() << "round " << round;
  }
  EXPECT_GT(trial.most_missed, 5U);
  EXPECT_GT(trial.most_mapped, 100U);
}

}  // namespace
}  // namespace calpe::array
