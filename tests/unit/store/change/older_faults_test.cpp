// SPDX-License-Identifier: Apache-2.0
// An update that is killed or fails at any call costs no older generation, also if shards are lost
// afterwards.
#include <gtest/gtest.h>

#include "store/change/generation_update.hpp"
#include "store/find/older_generations.hpp"
#include "store/repair/rebuild_undo.hpp"
#include "store/repair/repair_set.hpp"
#include "support/faulty_files.hpp"
#include "support/nightly.hpp"
#include "support/updated_tree.hpp"

namespace calpe::store {
namespace {

using tests::Fault;
using tests::FaultyFiles;
using tests::pattern;
using tests::UpdatedTree;
using tests::write_file;

class OlderFaults : public testing::TestWithParam<Fault> {
 protected:
  // Generation 1, its successor, and an update to be interrupted.
  OlderFaults() {
    trial_.block_bytes = 1024;
    trial_.protect();
    first_ = trial_.read_all();
    edit('1');
    EXPECT_TRUE(trial_.update({.older_kept = 2}));
    second_ = trial_.read_all();
    before_ = trial_.files.images();
    edit('2');
    std::filesystem::remove(trial_.tree + "/folder/b");
    EXPECT_TRUE(update(trial_.files));
    third_ = trial_.read_all();
    put_back(before_);
  }
  void edit(char what) {
    std::string changed = pattern(20000, 1);
    changed[5] = what;
    write_file(trial_.tree + "/a", changed);
  }
  Result<UpdateReport> update(FileSystem& files) {
    return trial_.update_in(files, {.older_kept = 2});
  }
  void put_back(const std::map<std::string, tests::Bytes>& images) {
    for (const auto& [path, bytes] : trial_.files.images())
      EXPECT_TRUE(trial_.files.remove(path));
    for (const auto& [path, bytes] : images)
      trial_.files.put(path, bytes);
  }
  // Returns true if the new state is there.
  bool expect_all_generations() {
    const auto findings = find_sets(trial_.files, {"disk"});
    const auto newest = choose_set(*findings);
    if (!newest) return ADD_FAILURE() << newest.error().message, false;
    const auto now = trial_.read_set(newest);
    const bool is_new = now == third_;
    EXPECT_TRUE(is_new || now == second_);
    std::vector<UpdatedTree::Contents> older;
    for (const FoundSet& set : kept_generations(*findings, newest->header))
      older.push_back(trial_.read_set(set));
    using All = std::vector<UpdatedTree::Contents>;
    EXPECT_EQ(older, is_new ? All({second_, first_}) : All({first_}));
    return is_new;
  }
  // One pair of shards per call, in the nightly run all of them.
  void expect_all_after_losses(bool is_new, std::uint64_t call) {
    const auto images = trial_.files.images();
    for (std::size_t a = 0; a < 5; ++a) {
      if (!tests::is_nightly() && a != call % 5) continue;
      const std::size_t b = (a + 2) % 5;
      for (const auto& [path, bytes] : images) {
        const bool is_lost =
            path.find(text("s00", a)) != path.npos || path.find(text("s00", b)) != path.npos;
        if (!is_lost) continue;
        EXPECT_TRUE(trial_.files.remove(path));
      }
      EXPECT_GE(expect_all_generations(), is_new);
      put_back(images);
    }
  }
  void expect_no_leftovers(std::size_t undo_files) {
    std::size_t count = 0;
    for (const auto& [path, bytes] : trial_.files.images()) {
      EXPECT_FALSE(path.ends_with(".redo") || path.ends_with(".new")) << path;
      count += path.ends_with(".undo") ? 1 : 0;
    }
    EXPECT_EQ(count, undo_files);
  }

  UpdatedTree trial_;
  UpdatedTree::Contents first_;
  UpdatedTree::Contents second_;
  UpdatedTree::Contents third_;
  std::map<std::string, tests::Bytes> before_;
};

TEST_P(OlderFaults, EveryCallOfAnUpdate) {
  FaultyFiles counting(trial_.files);
  ASSERT_TRUE(update(counting));
  const std::uint64_t calls = counting.calls();
  std::size_t failures = 0;
  const std::uint64_t step = tests::is_nightly() ? 1 : 3;
  for (std::uint64_t call = 0; call < calls; call += step) {
    SCOPED_TRACE(text("call ", call, ": ", counting.log()[call]));
    put_back(before_);
    FaultyFiles files(trial_.files);
    files.fail_call(call, GetParam());
    if (update(files)) continue;
    ++failures;
    const bool is_new = expect_all_generations();
    if (GetParam() == Fault::crash) expect_all_after_losses(is_new, call);
    // The next attempt works, whatever is left.
    const auto settled = settle(trial_.files, {"disk"});
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_GE(expect_all_generations(), is_new);
    expect_no_leftovers(trial_.read_all() == third_ ? 10 : 5);
    const auto again = update(trial_.files);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(expect_all_generations());
    expect_no_leftovers(10);
  }
  EXPECT_GT(failures, 40U / step);
}

INSTANTIATE_TEST_SUITE_P(All, OlderFaults,
                         testing::Values(Fault::input_output, Fault::no_space, Fault::crash),
                         [](const auto& about) {
                           if (about.param == Fault::input_output) return "InputOutput";
                           return about.param == Fault::crash ? "Crash" : "NoSpace";
                         });

using OlderRepairFaults = OlderFaults;
// Rebuilding journals is killed as well.
TEST_P(OlderRepairFaults, EveryCallOfARepair) {
  ASSERT_TRUE(update(trial_.files));
  for (const auto& [path, bytes] : trial_.files.images()) {
    const bool is_lost = path.find("s001") != path.npos || path.find("s004") != path.npos;
    if (!is_lost) continue;
    EXPECT_TRUE(trial_.files.remove(path));
  }
  ASSERT_TRUE(repair_set(trial_.files, *trial_.find()));
  const auto repaired = trial_.files.images();
  const ShardHeader header = trial_.find()->header;
  FaultyFiles counting(trial_.files);
  ASSERT_TRUE(rebuild_undo_journals(counting, {"disk"}, header));
  const std::uint64_t step = tests::is_nightly() ? 1 : 5;
  for (std::uint64_t call = 0; call < counting.calls(); call += step) {
    SCOPED_TRACE(text("call ", call, ": ", counting.log()[call]));
    put_back(repaired);
    FaultyFiles files(trial_.files);
    files.fail_call(call, GetParam());
    static_cast<void>(rebuild_undo_journals(files, {"disk"}, header));
    EXPECT_TRUE(expect_all_generations());
    const auto again = rebuild_undo_journals(trial_.files, {"disk"}, header);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(expect_all_generations());
    expect_no_leftovers(10);
    expect_all_after_losses(true, call);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OlderRepairFaults, testing::Values(Fault::crash),
                         [](const auto&) { return "Crash"; });

}  // namespace
}  // namespace calpe::store
