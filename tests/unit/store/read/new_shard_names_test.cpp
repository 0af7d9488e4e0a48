// SPDX-License-Identifier: Apache-2.0
// Where repair puts files, and which ones it may replace.
#include <gtest/gtest.h>

#include "support/repaired_set.hpp"

namespace calpe::store {
namespace {

using tests::Bytes;
using tests::expect_whole;
using tests::MadeSet;
using tests::MemoryFiles;
using tests::repair;

TEST(RepairNames, MissingShardsGoToTheTargets) {
  const MadeSet made({});
  MemoryFiles files;
  for (const std::size_t i : {1U, 2U, 3U}) {
    files.put(made.path(i), made.images()[i]);
  }
  const auto report = repair(files, {.targets = {"cloud/a", "cloud/b"}});
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->files_created,
            (std::vector<std::string>{made.path(0, "cloud/a"), made.path(4, "cloud/b")}));
  EXPECT_TRUE(files.at(made.path(0, "cloud/a")) == made.images()[0]);
  EXPECT_TRUE(files.at(made.path(4, "cloud/b")) == made.images()[4]);
}

TEST(RepairNames, MissingShardsGoToTheFolderWithTheFewest) {
  const MadeSet made({});
  MemoryFiles files;
  files.put(made.path(1, "a"), made.images()[1]);
  files.put(made.path(2, "a"), made.images()[2]);
  files.put(made.path(3, "b"), made.images()[3]);
  const auto found = find_sets(files, {"a", "b"});
  ASSERT_TRUE(found.has_value());
  const auto report = repair_set(files, found->sets.at(0));
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->files_created,
            (std::vector<std::string>{made.path(0, "b"), made.path(4, "a")}));
}

TEST(RepairNames, NamesThatAreTaken) {
  const MadeSet made({.generation = 2});
  const MadeSet older({.generation = 1, .seed = 9});
  const MadeSet stranger({.uuid = 7, .seed = 5});
  MemoryFiles files;
  files.put(made.path(0), made.images()[1]);   // swapped names: must be kept
  files.put(made.path(1), older.images()[1]);  // stale, and not in the way
  files.put(made.path(2), made.images()[2]);
  files.put(made.path(3), made.images()[3]);
  files.put(made.path(4), older.images()[4]);  // stale, to be replaced
  auto report = repair(files);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->files_created,
            (std::vector<std::string>{"disk/photos-1.s000.calpe", made.path(4)}));
  EXPECT_EQ(report->files_replaced, std::vector<std::string>{made.path(4)});
  EXPECT_TRUE(files.at(made.path(0)) == made.images()[1]);
  EXPECT_TRUE(files.at(made.path(1)) == older.images()[1]);
  EXPECT_TRUE(files.at("disk/photos-1.s000.calpe") == made.images()[0]);
  EXPECT_TRUE(files.at(made.path(4)) == made.images()[4]);

  // A foreign shard keeps its name. A file without headers is replaced.
  MemoryFiles others;
  made.put(others);
  others.put(made.path(0), stranger.images()[0]);
  others.put(made.path(1), Bytes(30000));
  const auto set = choose_set(*find_sets(others, {"disk"}), Uuid{std::byte{1}});
  report = repair_set(others, *set);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(others.at(made.path(0)) == stranger.images()[0]);
  EXPECT_TRUE(others.at("disk/photos-1.s000.calpe") == made.images()[0]);
  EXPECT_TRUE(others.at(made.path(1)) == made.images()[1]);
  EXPECT_EQ(report->files_replaced, std::vector<std::string>{made.path(1)});
}

TEST(RepairNames, RenamesTemporaryFiles) {
  const MadeSet made({});
  MemoryFiles files;
  made.put(files);
  ASSERT_TRUE(files.rename(made.path(2), "disk/.calpe-x-s002.part").has_value());
  ASSERT_TRUE(files.rename(made.path(3), "disk/.calpe-x-s3-0.repair").has_value());
  tests::flip_bit(files.at("disk/.calpe-x-s3-0.repair"), made.block_at(1), 1);
  const auto report = repair(files);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->before.shards[2].problem, "it has a temporary name");
  EXPECT_EQ(report->files_created, (std::vector{made.path(2), made.path(3)}));
  expect_whole(files, made);
}

TEST(RepairNames, RemovesLeftoversOfKilledRepairs) {
  const MadeSet made({.generation = 2});
  const MadeSet newer({.generation = 3, .seed = 3});
  const std::string begin = "disk/.calpe-01000000-0000-0000-0000-000000000000-s";
  for (const bool is_damaged : {false, true}) {
    MemoryFiles files;
    made.put(files);
    if (is_damaged) tests::flip_bit(files.at(made.path(1)), made.block_at(1), 1);
    files.put(begin + "2-2.repair", made.images()[2]);  // complete, and a copy
    files.put(begin + "3-3.repair", Bytes(9000));       // incomplete
    ASSERT_TRUE(repair(files).has_value());
    expect_whole(files, made);
    // Not ours to remove.
    files.put(begin + "2-2.repair", newer.images()[2]);
    files.put(begin + "2-2.other", Bytes(9000));
    files.put("disk/.calpe-02000000-0000-0000-0000-000000000000-s0-0.repair", Bytes(9000));
    const auto before = files.images();
    ASSERT_TRUE(repair(files).has_value());
    EXPECT_EQ(files.images(), before);
  }
}

}  // namespace
}  // namespace calpe::store
