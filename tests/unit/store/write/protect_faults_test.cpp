// SPDX-License-Identifier: Apache-2.0
// Sets are created completely or not at all, whichever call fails.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/write/protect.hpp"
#include "support/expected_set.hpp"
#include "support/faulty_files.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::expected_file;
using tests::Fault;
using tests::FaultyFiles;
using tests::make_targets;
using tests::MemorySource;
using tests::random_bytes;
using tests::snapshot;
using tests::Workshop;

constexpr CodeSpec code_3_2 = {.data_shards = 3, .parity_shards = 2};

struct Trial {
  Workshop shop;
  Bytes content = random_bytes(std::size_t{64} * 3 * 1030, 2);
  std::map<std::string, Bytes> before;
  ProtectOptions options = {.spec = code_3_2,
                            .targets = {shop.path("a"), shop.path("b")},
                            .name = "photos",
                            .block_bytes = 64};

  explicit Trial(bool has_old_set, unsigned jobs) {
    options.jobs = jobs;
    make_targets(options);
    if (has_old_set) {
      MemorySource old(random_bytes(1000, 3));
      FaultyFiles files;
      files.skip_syncs();
      EXPECT_TRUE(protect(files, old, options).has_value());
    }
    before = snapshot(shop.path(""));
    options.uuid.fill(std::byte{9});
  }
  Result<ProtectedSet> run(FileSystem& files) const {
    MemorySource source(content);
    return protect(files, source, options);
  }
  // Counts by content, under any name.
  std::size_t old_shards() const {
    const auto now = snapshot(shop.path(""));
    return static_cast<std::size_t>(std::ranges::count_if(before, [&](const auto& old) {
      return std::ranges::any_of(now, [&](const auto& file) { return file.second == old.second; });
    }));
  }
  std::size_t new_shards(const ShardHeader& header) const {
    const auto now = snapshot(shop.path(""));
    std::size_t count = 0;
    for (std::size_t shard = 0; shard < 5; ++shard) {
      const Bytes expected = expected_file(header, content, shard);
      count += std::ranges::any_of(now, [&](const auto& file) { return file.second == expected; });
    }
    return count;
  }
};

class ProtectFaults : public testing::TestWithParam<std::pair<bool, unsigned>> {
 protected:
  Trial make() const { return Trial(GetParam().first, GetParam().second); }

  // Counts the calls and returns the resulting header.
  void run_without_fault(std::uint64_t& calls, ShardHeader& header) const {
    const Trial trial = make();
    FaultyFiles files;
    files.skip_syncs();
    const auto set = trial.run(files);
    ASSERT_TRUE(set.has_value());
    ASSERT_EQ(trial.new_shards(set->header), 5U);
    calls = files.calls();
    header = set->header;
    EXPECT_GT(calls, 50U);
  }
};

TEST_P(ProtectFaults, AnErrorLeavesTheOldOrTheNewSet) {
  std::uint64_t calls = 0;
  ShardHeader header;
  ASSERT_NO_FATAL_FAILURE(run_without_fault(calls, header));
  for (const Fault fault : {Fault::input_output, Fault::no_space}) {
    std::uint64_t failures = 0;
    for (std::uint64_t index = 0; index < calls; ++index) {
      const Trial trial = make();
      FaultyFiles files;
      files.skip_syncs();
      files.fail_call(index, fault);
      const auto set = trial.run(files);
      SCOPED_TRACE(testing::Message() << "call " << index << ": " << files.log()[index]);
      // The old shard is then locked through a read-only descriptor.
      if (files.has_failed() && files.log()[index].starts_with("open_to_change ")) {
        ASSERT_TRUE(set.has_value()) << set.error().message;
        EXPECT_EQ(trial.new_shards(header), 5U);
        continue;
      }
      ASSERT_EQ(set.has_value(), !files.has_failed());
      if (set) continue;
      ++failures;
      EXPECT_EQ(set.error().code, ErrorCode::io);
      EXPECT_NE(set.error().message.find(trial.shop.path("")), std::string::npos)
          << set.error().message;
      if (snapshot(trial.shop.path("")) == trial.before) continue;
      // The old files that were moved aside could not be removed.
      EXPECT_NE(set.error().message.find(".old"), std::string::npos) << set.error().message;
      EXPECT_EQ(trial.new_shards(header), 5U);
      EXPECT_EQ(snapshot(trial.shop.path("")).size(), 6U);
    }
    EXPECT_GT(failures, 40U);
  }
}

// As after a kill, without cleanup: the old or the new set is complete.
TEST_P(ProtectFaults, KilledAtAnyCallLeavesOldOrNew) {
  std::uint64_t calls = 0;
  ShardHeader header;
  ASSERT_NO_FATAL_FAILURE(run_without_fault(calls, header));
  for (std::uint64_t index = 0; index < calls; ++index) {
    const Trial trial = make();
    FaultyFiles files;
    files.skip_syncs();
    files.fail_call(index, Fault::crash);
    ASSERT_FALSE(trial.run(files).has_value());
    SCOPED_TRACE(testing::Message() << "call " << index << ": " << files.log()[index]);
    EXPECT_TRUE(trial.old_shards() == trial.before.size() || trial.new_shards(header) == 5U);
    // The next attempt succeeds, whatever leftovers there are.
    MemorySource source(trial.content);
    ProtectOptions options = trial.options;
    options.uuid.fill(std::byte{10});
    files.stop_failing();
    EXPECT_TRUE(protect(files, source, options).has_value());
  }
}

INSTANTIATE_TEST_SUITE_P(All, ProtectFaults,
                         testing::Values(std::pair{false, 1U}, std::pair{true, 1U},
                                         std::pair{true, 3U}),
                         [](const auto& about) {
                           return std::string(about.param.first ? "Replacing" : "New") +
                                  (about.param.second == 1 ? "OneThread" : "Threads");
                         });

// Power failure safety: data is synced before files are renamed, and names before the replaced
// files are removed.
TEST(Protect, EverythingIsSyncedInOrder) {
  const Trial trial(true, 1);
  FaultyFiles files;
  files.skip_syncs();
  ASSERT_TRUE(trial.run(files).has_value());
  const std::vector<std::string> log = files.log();
  const auto calls = [&](const std::string& begin, const std::string& part) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < log.size(); ++i) {
      if (log[i].starts_with(begin) && log[i].find(part) != std::string::npos) found.push_back(i);
    }
    return found;
  };
  const std::vector<std::size_t> renames = calls("rename", ".part to");
  ASSERT_EQ(renames.size(), 5U);
  for (unsigned shard = 0; shard < 5; ++shard) {
    const std::string part = "-s00" + std::to_string(shard) + ".part";
    const std::vector<std::size_t> syncs = calls("sync /", part);
    ASSERT_EQ(syncs.size(), 1U) << part;
    EXPECT_GT(syncs[0], calls("write_at", part).back());
    EXPECT_LT(syncs[0], calls("rename", "")[0]);
  }
  const std::vector<std::size_t> folders = calls("sync_folder", "");
  ASSERT_EQ(folders.size(), 2U);
  EXPECT_NE(log[folders[0]], log[folders[1]]);
  EXPECT_GT(folders[0], renames.back());
  const std::vector<std::size_t> removals = calls("remove", ".old");
  ASSERT_EQ(removals.size(), 5U);
  EXPECT_LT(folders[1], removals[0]);
}

}  // namespace
}  // namespace calpe::store
