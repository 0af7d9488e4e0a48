// SPDX-License-Identifier: Apache-2.0
// Older generations stay readable after updates, as long as no more shards are lost than the code
// allows.
#include "store/find/older_generations.hpp"

#include <gtest/gtest.h>

#include "store/change/add_parity.hpp"
#include "store/change/generation_update.hpp"
#include "store/read/older_check.hpp"
#include "store/repair/rebuild_undo.hpp"
#include "store/repair/repair_set.hpp"
#include "support/updated_tree.hpp"

namespace calpe::store {
namespace {

using tests::pattern;
using tests::UpdatedTree;
using tests::write_file;

class OlderGenerations : public testing::Test {
 protected:
  // Also grows and shrinks the set, so that groups and pages move.
  void edit(int round) {
    std::string changed = pattern(20000, 1);
    changed[static_cast<std::size_t>(100 * round)] ^= 1;
    write_file(trial_.tree + "/a", changed);
    if (round % 2 == 1) {
      write_file(trial_.tree + "/grown", pattern(70000, static_cast<unsigned>(round)));
    } else {
      std::filesystem::remove(trial_.tree + "/grown");
    }
    tests::set_time(trial_.tree + "/a", 2000 + round, 0);
  }
  void update(int round, std::uint64_t older_kept) {
    edit(round);
    const auto report =
        trial_.update({.jobs = 1, .removed_percent_max = 100, .older_kept = older_kept});
    ASSERT_TRUE(report) << report.error().message;
    contents_[report->header.generation] = trial_.read_all();
  }
  void begin(std::uint64_t older_kept, int rounds) {
    trial_.protect();
    contents_[trial_.find()->header.generation] = trial_.read_all();
    for (int round = 1; round <= rounds; ++round)
      update(round, older_kept);
  }
  std::vector<FoundSet> kept() {
    const auto findings = find_sets(trial_.files, {"disk"});
    return kept_generations(*findings, choose_set(*findings)->header);
  }
  void expect_kept(std::size_t count) {
    const auto older = kept();
    ASSERT_EQ(older.size(), count);
    for (const FoundSet& set : older) {
      ASSERT_TRUE(contents_.contains(set.header.generation));
      EXPECT_EQ(trial_.read_set(set), contents_[set.header.generation]);
    }
  }
  std::size_t undo_files() {
    std::size_t count = 0;
    for (const auto& [path, bytes] : trial_.files.images())
      count += path.ends_with(".undo") ? 1 : 0;
    return count;
  }
  std::string undo_path(std::size_t generation, std::size_t shard) {
    return kept()[generation].shards[shard].front().undo.back();
  }
  // A disk is lost with its journals.
  void lose(std::size_t shard) {
    const std::string number = text("s00", shard);
    for (const auto& [path, bytes] : trial_.files.images()) {
      if (path.find(number) == path.npos) continue;
      ASSERT_TRUE(trial_.files.remove(path));
    }
  }
  void put_back(const std::map<std::string, tests::Bytes>& images) {
    for (const auto& [path, bytes] : trial_.files.images())
      ASSERT_TRUE(trial_.files.remove(path));
    for (const auto& [path, bytes] : images)
      trial_.files.put(path, bytes);
  }
  UndoRepair repair() {
    EXPECT_TRUE(repair_set(trial_.files, *trial_.find()));
    const auto done = rebuild_undo_journals(trial_.files, {"disk"}, trial_.find()->header);
    EXPECT_TRUE(done) << done.error().message;
    return *done;
  }

  UpdatedTree trial_;
  std::map<std::uint64_t, UpdatedTree::Contents> contents_;
};

TEST_F(OlderGenerations, AreBounded) {
  begin(2, 1);
  expect_kept(1);
  update(2, 2);
  expect_kept(2);
  update(3, 2);
  expect_kept(2);
  EXPECT_EQ(undo_files(), 10U);
  update(4, 1);
  expect_kept(1);
  update(5, 0);
  expect_kept(0);
  EXPECT_EQ(undo_files(), 0U);
  trial_.expect_restorable();
}

TEST_F(OlderGenerations, TakeSpaceForWhatChanged) {
  begin(1, 0);
  std::string changed = pattern(20000, 1);
  changed[7] ^= 1;
  write_file(trial_.tree + "/a", changed);
  const auto report = trial_.update({.older_kept = 1});
  ASSERT_TRUE(report) << report.error().message;
  // Headers and a page per shard, a changed stripe, and the list of files at the end.
  const std::uint64_t blocks = report->block_bytes_written;
  EXPECT_LE(report->undo_bytes, 5 * (3 * 4096 + 4096 + 20 * 32) + blocks);
  EXPECT_GE(report->undo_bytes, blocks);
}

TEST_F(OlderGenerations, AnyTwoShardsMayBeLost) {
  begin(2, 3);
  const auto whole = trial_.files.images();
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = a; b < 5; ++b) {
      SCOPED_TRACE(text(a, " and ", b, " are lost"));
      put_back(whole);
      lose(a);
      lose(b);
      expect_kept(2);
      EXPECT_EQ(repair().files_created.size(), a == b ? 2U : 4U);
      expect_kept(2);
      EXPECT_EQ(undo_files(), 10U);
      lose((a + 1) % 5);
      lose((b + 2) % 5);
      expect_kept(2);
    }
  }
}

TEST_F(OlderGenerations, MoreLossesAreAnError) {
  begin(1, 1);
  for (const std::size_t shard : {0U, 2U, 4U})
    lose(shard);
  const auto older = kept();
  ASSERT_EQ(older.size(), 1U);
  EXPECT_TRUE(trial_.read_set(older.front()).contains(""));
  EXPECT_FALSE((*check_older(trial_.files, older, true)).front().is_restorable);
}

TEST_F(OlderGenerations, AreNeverUsedInPlaceOfTheNewest) {
  begin(1, 0);
  const auto old = trial_.files.images();
  update(1, 1);
  for (const std::size_t shard : {0U, 1U, 2U})
    lose(shard);
  // Shards of an old backup return: with the undo journals, they are enough.
  for (const std::size_t shard : {0U, 1U})
    trial_.files.put(trial_.shard_path(shard), old.at(trial_.shard_path(shard)));
  EXPECT_EQ(trial_.find()->header.generation, contents_.rbegin()->first);
  EXPECT_TRUE(trial_.read_all().contains(""));
  expect_kept(1);
}

// A damaged undo journal costs at most its own shard.
TEST_F(OlderGenerations, DamagedJournalsAreDetectedAndRebuilt) {
  begin(2, 2);
  const auto whole = trial_.files.images();
  const std::string path = undo_path(0, 1);
  const std::size_t bytes = trial_.files.at(path).size();
  for (std::size_t at = 0; at < bytes; at += 2039) {
    SCOPED_TRACE(at);
    put_back(whole);
    trial_.files.at(path)[at] ^= std::byte{16};
    lose(3);
    expect_kept(2);
    EXPECT_FALSE((*check_older(trial_.files, kept(), true)).front().is_good());
    EXPECT_GE(repair().files_created.size(), 3U);
    lose(0);
    lose(4);
    expect_kept(2);
  }
}

// Only the shards were moved, without their hidden journals. One repair is enough, also if there
// are several copies of the damaged journal.
TEST_F(OlderGenerations, DamagedJournalsElsewhereAreRemoved) {
  begin(2, 2);
  const std::string path = undo_path(1, 1);
  trial_.files.at(path)[5000] ^= std::byte{16};
  trial_.files.put("backup" + path.substr(path.rfind('/')), trial_.files.at(path));
  ASSERT_TRUE(trial_.files.make_folders("moved"));
  for (std::size_t shard = 0; shard < 5; ++shard) {
    const std::string from = trial_.shard_path(shard);
    ASSERT_TRUE(trial_.files.rename(from, "moved" + from.substr(from.rfind('/'))));
  }
  const std::vector<std::string> places = {"backup", "disk", "moved"};
  for (const std::size_t created : {1U, 0U}) {
    const auto findings = find_sets(trial_.files, places);
    const ShardHeader newest = choose_set(*findings)->header;
    const auto repaired = rebuild_undo_journals(trial_.files, places, newest);
    ASSERT_TRUE(repaired) << repaired.error().message;
    EXPECT_EQ(repaired->files_created.size(), created);
    const auto again = kept_generations(*find_sets(trial_.files, places), newest);
    const auto checked = check_older(trial_.files, again, true);
    ASSERT_EQ(checked->size(), 2U);
    EXPECT_TRUE((*checked)[0].is_good());
    EXPECT_TRUE((*checked)[1].is_good());
    for (const FoundSet& set : again)
      EXPECT_EQ(trial_.read_set(set), contents_[set.header.generation]);
  }
  EXPECT_EQ(undo_files(), 10U);
}

TEST_F(OlderGenerations, CutJournalsAreDetected) {
  begin(1, 1);
  const std::string path = undo_path(0, 2);
  trial_.files.at(path).pop_back();
  EXPECT_EQ((*check_older(trial_.files, kept(), true)).front().missing, std::vector<ShardIndex>{2});
  expect_kept(1);
}

TEST_F(OlderGenerations, SurviveAddParity) {
  begin(2, 2);
  ASSERT_TRUE(add_parity(trial_.files, *trial_.find(), {.parity_shards = 3}));
  contents_[trial_.find()->header.generation] = trial_.read_all();
  ASSERT_EQ(kept().size(), 3U);
  expect_kept(3);
  lose(1);
  lose(2);
  expect_kept(3);
  EXPECT_EQ(repair().lost.size(), 0U);
  expect_kept(3);
  update(3, 1);
  expect_kept(1);
}

TEST_F(OlderGenerations, AreNotBegunByAddParity) {
  begin(0, 1);
  ASSERT_TRUE(add_parity(trial_.files, *trial_.find(), {.parity_shards = 3}));
  EXPECT_EQ(undo_files(), 0U);
}

// A version of calpe without undo journals changes the set: they no longer apply.
TEST_F(OlderGenerations, DoNotApplyToOtherGenerations) {
  begin(1, 1);
  const auto undo = trial_.files.images();
  update(2, 0);
  for (const auto& [path, bytes] : undo) {
    if (path.ends_with(".undo")) trial_.files.put(path, bytes);
  }
  expect_kept(0);
  EXPECT_EQ(undo_files(), 5U);
  update(3, 1);
  expect_kept(1);
  EXPECT_EQ(undo_files(), 5U);
}

TEST_F(OlderGenerations, KeepTheirRoots) {
  trial_.root_kind = RootKind::sha256;
  begin(2, 2);
  const auto whole = trial_.files.images();
  for (std::size_t a = 0; a < 5; ++a) {
    put_back(whole);
    lose(a);
    lose((a + 2) % 5);
    EXPECT_EQ(repair().files_created.size(), 4U);
    expect_kept(2);
    for (const FoundSet& set : kept()) {
      const auto verified = verify_set(trial_.files, set, true);
      ASSERT_TRUE(verified) << verified.error().message;
      EXPECT_TRUE(verified->is_good());
    }
  }
}

}  // namespace
}  // namespace calpe::store
