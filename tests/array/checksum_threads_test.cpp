// SPDX-License-Identifier: Apache-2.0
// Threads read checksums through a cache of two pages, so that each read evicts some, while another
// thread sets checksums and writes dirty pages like a commit. TSan reports a missing lock.
#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <iostream>
#include <mutex>
#include <thread>

#include "array/judged_array.hpp"
#include "array/state/checksum_table.hpp"
#include "support/memory_members.hpp"

namespace calpe::tests {
namespace {

using array::ChecksumTable;
using array::page_checksums;

constexpr unsigned roles = 3;
constexpr unsigned readers = 3;

// Serialises requests, as members in memory are not thread-safe.
class LockedMembers final : public array::Members {
 public:
  explicit LockedMembers(std::uint64_t bytes) : members_(roles, bytes) {}
  unsigned count() const override { return roles; }
  std::uint64_t bytes(unsigned member) const override { return members_.bytes(member); }
  void run(std::span<MemberRequest> batch) override {
    const std::lock_guard lock(mutex_);
    members_.run(batch);
  }

 private:
  std::mutex mutex_;
  array::MemoryMembers members_;
};

struct Trial {
  array::MemberLayout layout = [] {
    array::Settings settings;
    settings.spec = {.data_shards = 2, .parity_shards = 1};
    settings.chunk_bytes = 65536;
    settings.bytes = std::uint64_t{96} * 2 * 65536;
    settings.log_bytes = 1U << 18U;
    settings.spare_slots = 4;
    return layout_of(settings, {.rotated = roles, .members_max = roles});
  }();
  LockedMembers members{layout.slots_at};
  array::Roster roster{members, layout};
  array::Index index{layout};
  ChecksumTable table{layout, roster, index, {.cache_bytes = 2 * array::block_bytes}};

  Trial() {
    for (unsigned role = 0; role < roles; ++role) {
      roster.set_place(role, role);
      roster.set(role, {});
    }
  }
  // All checksums of a page are the number of the round that set them last.
  void set_page(unsigned role, std::uint64_t page, std::uint64_t round) {
    const std::vector<std::uint64_t> checks(page_checksums, round);
    table.set(role, page * page_checksums, checks);
  }
  // Returns "" or the page that is torn or older than `least`.
  std::string check_page(unsigned role, std::uint64_t page, std::uint64_t least) {
    std::vector<std::uint64_t> checks(page_checksums);
    table.get(role, page * page_checksums, checks);
    for (const std::uint64_t check : checks) {
      if (check != checks[0] || check < least) {
        return text("role ", role, " page ", page, " has ", check, " next to ", checks[0],
                    "; expected at least ", least);
      }
    }
    return {};
  }
  void write_dirty() {
    for (const ChecksumTable::Dirty& page : table.dirty()) {
      std::array<MemberRequest, 1> request = {};
      request[0].call = MemberCall::write;
      request[0].member = page.role;
      request[0].offset = layout.page_at(page.page, page.place);
      request[0].bytes = page.bytes;
      ASSERT_EQ(roster.run(request), 0U);
      index.set_digest(page.role, page.page,
                       array::page_digest({}, page.role, page.page, page.bytes) | page.place);
      table.set_written(page);
    }
  }
};

TEST(ArrayChecksumThreads, PagesAreReadAndDroppedWhileOthersAreWritten) {
  const std::uint64_t rounds = std::getenv("CALPE_NIGHTLY") != nullptr ? 20000 : 400;
  const std::uint64_t seed = array_seed();
  SCOPED_TRACE(text("seed ", seed, " (threads: need not fail again)"));
  Trial trial;
  const std::uint64_t pages = trial.layout.table_pages;
  for (unsigned role = 0; role < roles; ++role) {
    for (std::uint64_t page = 0; page < pages; ++page)
      trial.set_page(role, page, 1);
  }
  trial.write_dirty();
  std::atomic<std::uint64_t> reads = 0;
  std::atomic<bool> is_wrong = false;
  std::array<std::string, readers> wrong;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < readers; ++i) {
      threads.emplace_back([&, i](const std::stop_token& end) {
        Random random(seed * readers + i);
        while (!end.stop_requested() && !is_wrong) {
          const auto role = static_cast<unsigned>(random.below(roles));
          wrong[i] = trial.check_page(role, random.below(pages), 1);
          if (!wrong[i].empty()) is_wrong = true;
          ++reads;
        }
      });
    }
    Random random(seed);
    for (std::uint64_t round = 2; round < rounds + 2 && !is_wrong; ++round) {
      const auto role = static_cast<unsigned>(random.below(roles));
      const std::uint64_t page = random.below(pages);
      trial.set_page(role, page, round);
      EXPECT_EQ(trial.check_page(role, page, round), "");
      if (random.one_in(2)) trial.write_dirty();
      // At least one read per round: on a busy core the readers might not run before the end.
      while (reads < round && !is_wrong)
        std::this_thread::yield();
    }
  }
  for (const std::string& each : wrong)
    EXPECT_EQ(each, "");
  std::cout << rounds << " rounds, " << reads << " reads\n";
}

}  // namespace
}  // namespace calpe::tests
