// SPDX-License-Identifier: Apache-2.0
// Brings a set up to date with its files, with no more work than needed.
#include "store/change/update_set.hpp"

#include <gtest/gtest.h>

#include "support/sample_tree.hpp"
#include "support/updated_tree.hpp"

namespace calpe::store {
namespace {

namespace fs = std::filesystem;
using tests::pattern;
using tests::set_time;
using tests::UpdatedTree;
using tests::write_file;

using Paths = std::vector<std::string>;

TEST(UpdateSet, NothingChangedMakesNoGeneration) {
  UpdatedTree trial;
  trial.protect();
  const auto before = trial.files.images();
  const auto report = trial.update();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->is_anything_changed());
  EXPECT_EQ(report->unchanged, 6U);
  EXPECT_EQ(report->header.generation, 1U);
  EXPECT_EQ(trial.files.images(), before);
}

TEST(UpdateSet, ReportsWhatChanged) {
  UpdatedTree trial;
  trial.protect();
  write_file(trial.tree + "/new", "something");
  write_file(trial.tree + "/a", "shorter");
  fs::remove(trial.tree + "/folder/b");
  fs::permissions(trial.tree + "/c", fs::perms::owner_read);
  const auto planned = trial.update({.dry_run = true});
  ASSERT_TRUE(planned);
  EXPECT_EQ(trial.find()->header.generation, 1U);
  const auto report = trial.update({.removed_percent_max = 100});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->added, Paths{"new"});
  EXPECT_EQ(report->changed, Paths{"a"});
  EXPECT_EQ(report->removed, Paths{"folder/b"});
  EXPECT_EQ(report->metadata, (Paths{"", "c", "folder"}));
  EXPECT_EQ(planned->changed, report->changed);
  EXPECT_GT(report->header.generation, 1U);
  EXPECT_EQ(trial.find()->header, report->header);
  trial.expect_restorable();
}

// 10 MB in 64 KiB blocks, of which one byte changes.
TEST(UpdateSet, ASmallChangeInABigSetCostsLittle) {
  UpdatedTree trial;
  std::string big = pattern(std::size_t{10} << 20U, 3);
  write_file(trial.tree + "/a", big);
  trial.spec = {.data_shards = 10, .parity_shards = 4};
  trial.block_bytes = 1U << 14U;
  trial.protect();
  big[5'000'000] ^= 1;
  write_file(trial.tree + "/a", big);
  const auto report = trial.update({.jobs = 2});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->stripes.by_delta, 2U);  // the byte and the manifest
  EXPECT_EQ(report->stripes.by_encode, 0U);
  EXPECT_EQ(report->stripes.blocks_written, 10U);  // 1 + 4 for each
  EXPECT_EQ(report->block_bytes_written, 10U << 14U);
  EXPECT_EQ(report->file_bytes_read, big.size());
  EXPECT_LT(report->stripes.shard_bytes_read, big.size() + (11U << 14U));
  trial.expect_restorable();
}

TEST(UpdateSet, RenamedFilesAreNotWrittenAgain) {
  UpdatedTree trial;
  trial.protect();
  fs::rename(trial.tree + "/a", trial.tree + "/folder/renamed");
  const auto report = trial.update();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->added, Paths{"folder/renamed"});
  EXPECT_EQ(report->removed, Paths{"a"});
  // The manifest and its parity.
  EXPECT_LT(report->block_bytes_written, 2000U);
  trial.expect_restorable();
}

TEST(UpdateSet, OnlyChecksumsSeeAChangeThatKeepsSizeAndTime) {
  UpdatedTree trial;
  trial.protect();
  const auto time = fs::last_write_time(trial.tree + "/a");
  std::string bytes = tests::read_bytes(trial.tree + "/a");
  bytes[17] ^= 1;
  write_file(trial.tree + "/a", bytes);
  fs::last_write_time(trial.tree + "/a", time);
  const auto believing = trial.update();
  ASSERT_TRUE(believing);
  EXPECT_FALSE(believing->is_anything_changed());
  const auto report = trial.update({.checksum = true});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->changed, Paths{"a"});
  trial.expect_restorable();
}

TEST(UpdateSet, WithChecksumsATouchedFileIsUnchanged) {
  UpdatedTree trial;
  trial.protect();
  set_time(trial.tree + "/a", 99, 0);
  EXPECT_EQ(trial.update({.checksum = true, .dry_run = true})->metadata, Paths{"a"});
  const auto report = trial.update();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->changed, Paths{"a"});
  trial.expect_restorable();
}

// Data in a range that is a hole in the set's file.
TEST(UpdateSet, ChecksumsCoverHoles) {
  UpdatedTree trial;
  write_file(trial.tree + "/a", "");
  fs::resize_file(trial.tree + "/a", 1U << 20U);
  trial.protect();
  const auto time = fs::last_write_time(trial.tree + "/a");
  std::string bytes(1U << 20U, '\0');
  write_file(trial.tree + "/a", bytes);
  fs::last_write_time(trial.tree + "/a", time);
  EXPECT_FALSE(trial.update({.checksum = true})->is_anything_changed());
  bytes[777'777] = 'x';
  write_file(trial.tree + "/a", bytes);
  fs::last_write_time(trial.tree + "/a", time);
  EXPECT_EQ(trial.update({.checksum = true})->changed, Paths{"a"});
  trial.expect_restorable();
}

TEST(UpdateSet, ASingleFileWorksToo) {
  UpdatedTree trial;
  trial.source = trial.tree + "/a";
  trial.protect();
  write_file(trial.source, pattern(9999, 5));
  EXPECT_FALSE(trial.update());  // more than half of its bytes are gone
  const auto report = trial.update({.removed_percent_max = 51});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->changed, Paths{"a"});
  EXPECT_EQ(trial.read_all().at("a"), pattern(9999, 5));
}

TEST(UpdateSet, RefusesASourceThatDoesNotFitTheSet) {
  UpdatedTree trial;
  trial.protect();
  const auto expect_refused = [&](const std::string& part) {
    const auto before = trial.files.images();
    const auto report = trial.update();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(report.error().message.find(part), std::string::npos) << report.error().message;
    EXPECT_EQ(trial.files.images(), before);
  };
  trial.source = trial.tree + "/a";
  expect_refused("the set protects a directory");
  trial.source = trial.shop.path("empty");
  fs::create_directory(trial.source);
  expect_refused("the right source?");
  EXPECT_TRUE(trial.update({.removed_percent_max = 100}));
  trial.protect_stream();
  expect_refused("standard input");
}

TEST(UpdateSet, ADamagedSetMustBeRepairedFirst) {
  UpdatedTree trial;
  trial.protect();
  write_file(trial.tree + "/a", pattern(20000, 9));
  const std::string path = trial.shard_path(1);
  const auto whole = trial.files.images();
  trial.files.at(path)[100] ^= std::byte{1};
  auto report = trial.update();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::corrupt);
  EXPECT_NE(report.error().message.find(path), std::string::npos);
  EXPECT_NE(report.error().message.find("calpe repair"), std::string::npos);
  ASSERT_TRUE(trial.files.remove(path));
  report = trial.update();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "shard 1 is missing; run calpe repair first");
  trial.files.put(path, whole.at(path));
  EXPECT_TRUE(trial.update());
}

TEST(UpdateSet, UnusedBytesAreCounted) {
  UpdatedTree trial;
  trial.protect();
  fs::remove(trial.tree + "/a");
  const auto report = trial.update({.removed_percent_max = 100});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->unused_bytes, 20000U);  // the removed file was the first
  EXPECT_EQ(report->data_bytes, 20000U + 3000 + 1000);
  trial.expect_restorable();
}

// A file that is written while it is read must not yield a mix of two versions.
TEST(UpdateSet, AFileThatChangesIsAnError) {
  UpdatedTree trial;
  std::string big = pattern(40 << 20U, 3);
  write_file(trial.tree + "/a", "small at first");
  trial.block_bytes = 1U << 12U;
  trial.protect();
  write_file(trial.tree + "/a", big);
  const auto before = trial.files.images();
  UpdateOptions options;
  options.on_progress = [&](std::uint64_t, std::uint64_t) {
    set_time(trial.tree + "/a", 12345, 0);
  };
  const auto report = trial.update(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::io);
  EXPECT_NE(report.error().message.find("/a changed while it was read"), std::string::npos);
  EXPECT_EQ(trial.files.images(), before);
}

}  // namespace
}  // namespace calpe::store
