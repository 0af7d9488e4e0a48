// SPDX-License-Identifier: Apache-2.0
// Updates of a set that has lost segments: what the files still have is uploaded again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_sets.hpp"

namespace calpe::remote {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LostSegments : public testing::Test {
 protected:
  LostSegments() : world_(place_count) {
    source_.make_old();
    const auto made = run_protect(world_, source_);
    EXPECT_TRUE(made) << made.error().message;
    generation_ = made->generation;
  }

  using Damage = std::function<void(Objects& objects, const std::string& name)>;
  // Calls work(objects, name) for the object of this segment on three of four places.
  void damage(const Digest& segment, const Damage& work) {
    for (ShardIndex shard = 0; shard < 3; ++shard) {
      const std::string name = segment_path(generation_.header.uuid, segment, shard);
      for (Objects& objects : world_.places) {
        if (objects.contains(name)) work(objects, name);
      }
    }
  }
  void lose(const Digest& segment) {
    damage(segment, [](Objects& objects, const std::string& name) { objects.erase(name); });
  }
  Result<WriteReport> update(const UpdateOptions& options = {}) {
    Places places = places_of(world_);
    return update_on_places(places, sets_on(places).front(), source_.path(), options);
  }
  void expect_whole(std::uint64_t generation) {
    for_each_loss(parity_shards, [&](unsigned lost) {
      const auto files = files_on(world_, lost, generation);
      ASSERT_TRUE(files) << files.error().message;
      EXPECT_EQ(*files, source_.files());
    });
  }

  World world_;
  Source source_;
  Generation generation_;
};

TEST_F(LostSegments, AreUploadedAgain) {
  lose(generation_.data[1]);
  lose(generation_.data[2]);
  EXPECT_EQ(run_check(world_, false)->lost_segments, 2U);
  const auto report = update();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->is_changed);
  EXPECT_EQ(report->segments_healed, 2U);
  EXPECT_EQ(report->segments_lost, 0U);
  EXPECT_THAT(report->generations_lost, ElementsAre());
  EXPECT_EQ(report->objects_written, 6U);
  EXPECT_TRUE(run_check(world_, false)->is_good());
  expect_whole(generation_.header.generation);
}

TEST_F(LostSegments, AreUploadedAgainNextToAChange) {
  lose(generation_.data[1]);
  source_.write("c", 'C', 1500);
  const auto report = update();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->is_changed);
  EXPECT_EQ(report->segments_healed, 1U);
  EXPECT_TRUE(run_check(world_, false)->is_good());
  expect_whole(0);
}

TEST_F(LostSegments, OfFilesThatChangedStayLost) {
  lose(generation_.data[1]);
  source_.write("a", 'Z', 3001);
  const auto report = update();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->is_changed);
  EXPECT_EQ(report->segments_healed, 0U);
  EXPECT_EQ(report->segments_lost, 1U);
  EXPECT_THAT(report->generations_lost, ElementsAre(generation_.header.generation));
  expect_whole(0);
  EXPECT_FALSE(files_on(world_, 0, generation_.header.generation));
  ASSERT_TRUE(run_forget(world_, 1));
  EXPECT_TRUE(run_check(world_, false)->is_good());
}

TEST_F(LostSegments, WithWrongBytesAreFoundByReading) {
  damage(generation_.data[1], [](Objects& objects, const std::string& name) {
    for (std::byte& byte : objects[name])
      byte ^= std::byte{1};
  });
  const auto blind = update();
  ASSERT_TRUE(blind) << blind.error().message;
  EXPECT_EQ(blind->segments_healed, 0U);
  EXPECT_EQ(run_check(world_, false)->lost_segments, 1U);
  UpdateOptions options;
  options.verifies = true;
  const auto report = update(options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->segments_healed, 1U);
  EXPECT_TRUE(run_check(world_, false)->is_good());
  expect_whole(0);
}

TEST_F(LostSegments, ThatRepairCanRebuildAreLeftToIt) {
  lose(generation_.data[1]);
  world_.places[0].erase(segment_path(generation_.header.uuid, generation_.data[2], 0));
  const auto refused = update();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("run calpe remote repair"));
  const auto repaired = run_check(world_, true);
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_EQ(repaired->lost_segments, 1U);
  const auto report = update();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->segments_healed, 1U);
  expect_whole(0);
}

TEST_F(LostSegments, OfTheListOfFilesNeedConsent) {
  for (const Digest& segment : generation_.manifest)
    lose(segment);
  const auto refused = update();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unrecoverable);
  EXPECT_THAT(refused.error().message, HasSubstr("--allow-removing 100"));
  UpdateOptions options;
  options.removed_percent_max = 100;
  const auto report = update(options);
  ASSERT_TRUE(report) << report.error().message;
  // The files are as they were protected, so everything has its old digest.
  EXPECT_FALSE(report->is_changed);
  EXPECT_EQ(report->segments_healed, generation_.manifest.size());
  EXPECT_TRUE(run_check(world_, false)->is_good());
  expect_whole(generation_.header.generation);
}

TEST_F(LostSegments, WithTheListOfFilesAndOtherFilesGiveANewGeneration) {
  for (const Digest& segment : generation_.manifest)
    lose(segment);
  source_.write("0first", 'f', 500);
  UpdateOptions options;
  options.removed_percent_max = 100;
  const auto report = update(options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->is_changed);
  EXPECT_THAT(report->generations_lost, ElementsAre(generation_.header.generation));
  expect_whole(0);
}

}  // namespace
}  // namespace calpe::remote
