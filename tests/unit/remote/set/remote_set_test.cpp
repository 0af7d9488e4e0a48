// SPDX-License-Identifier: Apache-2.0
// Sets on places: every kill point, every loss of up to m places, and wrong or old bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_sets.hpp"

namespace calpe::remote {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class RemoteSetTest : public testing::Test {
 protected:
  RemoteSetTest() {
    source_.make_old();
    old_ = source_.files();
  }
  void protect_old(World& world) {
    const auto made = run_protect(world, source_);
    ASSERT_TRUE(made) << made.error().message;
  }
  void change() {
    source_.make_new();
    new_ = source_.files();
  }
  void expect_everywhere(World& world, const Files& files, std::size_t most = parity_shards) {
    for_each_loss(most, [&](unsigned lost) {
      const auto found = files_on(world, lost);
      ASSERT_TRUE(found) << lost << ": " << found.error().message;
      EXPECT_EQ(*found, files) << lost;
    });
  }
  // Calls `run` with a kill at every change, before and after it, until it is not reached.
  static void kill_everywhere(const World& start, const std::function<void(World&)>& run,
                              const std::function<void(World&)>& check) {
    for (const bool is_after : {false, true}) {
      long points = 0;
      for (bool is_reached = true; is_reached; ++points) {
        World world = start;
        world.killed_at = points;
        world.is_killed_after = is_after;
        run(world);
        is_reached = world.is_dead;
        world.revive();
        check(world);
        if (HasFailure()) {
          ADD_FAILURE() << "killed at change " << points << (is_after ? ", made" : ", not made");
          return;
        }
      }
      EXPECT_GT(points, 5);
    }
  }

  Source source_;
  Files old_;
  Files new_;
};

TEST_F(RemoteSetTest, AnyTwoPlacesMayBeLost) {
  World world(place_count);
  protect_old(world);
  expect_everywhere(world, old_);
  for_each_loss(parity_shards + 1, [&](unsigned lost) {
    if (std::popcount(lost) != parity_shards + 1) return;
    const auto found = files_on(world, lost);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::unrecoverable);
    EXPECT_THAT(found.error().message, HasSubstr("is on no place"));
  });
}

TEST_F(RemoteSetTest, UpdateUploadsChangedSegmentsOnly) {
  World world(place_count);
  protect_old(world);
  const auto none = run_update(world, source_);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->is_changed);
  change();
  const auto report = run_update(world, source_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_LT(report->segments_written,
            report->generation.data.size() + report->generation.manifest.size());
  expect_everywhere(world, new_);
  // The old generation is the way back, also without two places.
  for_each_loss(parity_shards, [&](unsigned lost) {
    const auto found = files_on(world, lost, report->generation.parent);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, old_);
  });
}

TEST_F(RemoteSetTest, AKilledProtectLeavesNothingOrTheSet) {
  kill_everywhere(
      World(place_count), [&](World& world) { (void)run_protect(world, source_); },
      [&](World& world) {
        for_each_loss(parity_shards, [&](unsigned lost) {
          const auto found = files_on(world, lost);
          if (found) {
            EXPECT_EQ(*found, old_);
          } else {
            EXPECT_EQ(found.error().message, "no set");
          }
        });
        const auto again = run_protect(world, source_);
        if (!again) {  // it was complete
          EXPECT_THAT(again.error().message, HasSubstr("have a set of the name"));
          const auto repaired = run_check(world, true);
          ASSERT_TRUE(repaired) << repaired.error().message;
        }
        expect_everywhere(world, old_);
      });
}

TEST_F(RemoteSetTest, AKilledProtectResumes) {
  World whole(place_count);
  protect_old(whole);
  World world(place_count);
  world.killed_at = whole.changes / 2;
  ASSERT_FALSE(run_protect(world, source_));
  world.revive();
  const auto again = run_protect(world, source_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->is_resumed);
  // Twice the mark of the set and the mark of the change, and the mark that was left.
  EXPECT_LE(world.changes, whole.changes + 3 * static_cast<long>(place_count) + 1);
  expect_everywhere(world, old_);
}

TEST_F(RemoteSetTest, AKilledUpdateLeavesTheOldOrTheNewState) {
  World start(place_count);
  protect_old(start);
  change();
  kill_everywhere(
      start, [&](World& world) { (void)run_update(world, source_, 1); },
      [&](World& world) {
        for_each_loss(parity_shards, [&](unsigned lost) {
          const auto found = files_on(world, lost);
          ASSERT_TRUE(found) << found.error().message;
          EXPECT_THAT(*found, AnyOf(old_, new_));
        });
        const auto again = run_update(world, source_, 1);
        ASSERT_TRUE(again) << again.error().message;
        expect_everywhere(world, new_);
        const auto forgotten = run_forget(world, 1);
        ASSERT_TRUE(forgotten) << forgotten.error().message;
        expect_everywhere(world, new_);
        // Nothing is left that no generation needs.
        const Generation& newest = again->generation;
        const std::size_t objects = newest.data.size() + newest.manifest.size() + 1;
        for (const Objects& place : world.places)
          EXPECT_LE(place.size(), objects);
      });
}

TEST_F(RemoteSetTest, AKilledRepairLosesNothing) {
  World start(place_count);
  protect_old(start);
  start.places[1].clear();
  kill_everywhere(
      start, [&](World& world) { (void)run_check(world, true); },
      [&](World& world) {
        for (unsigned lost = 0; lost < 1U << place_count; ++lost) {
          if (std::popcount(lost | 2U) > static_cast<int>(parity_shards)) continue;
          const auto found = files_on(world, lost);
          ASSERT_TRUE(found) << found.error().message;
          EXPECT_EQ(*found, old_);
        }
        const auto again = run_check(world, true);
        ASSERT_TRUE(again) << again.error().message;
        const auto checked = run_check(world, false);
        ASSERT_TRUE(checked) << checked.error().message;
        EXPECT_TRUE(checked->is_good());
        expect_everywhere(world, old_);
      });
}

TEST_F(RemoteSetTest, AKilledForgetKeepsWhatItPromised) {
  World start(place_count);
  protect_old(start);
  change();
  ASSERT_TRUE(run_update(start, source_, 2));
  kill_everywhere(
      start, [&](World& world) { (void)run_forget(world, 1); },
      [&](World& world) {
        expect_everywhere(world, new_);
        ASSERT_TRUE(run_forget(world, 1));
        expect_everywhere(world, new_);
      });
}

TEST_F(RemoteSetTest, WrongBytesOfTwoPlacesAreDecodedAround) {
  World start(place_count);
  protect_old(start);
  for (const std::size_t step : {1UL, 97UL, 1000UL}) {
    World world = start;
    for (const std::size_t index : {0UL, 2UL}) {
      for (auto& [name, bytes] : world.places[index]) {
        for (std::size_t i = step / 2; i < bytes.size(); i += step)
          bytes[i] ^= std::byte{1};
      }
    }
    const auto found = files_on(world, 0);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, old_);
    const auto checked = run_check(world, false);
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_FALSE(checked->is_good());
    EXPECT_EQ(checked->lost_segments, 0U);
    ASSERT_TRUE(run_check(world, true));
    expect_everywhere(world, old_);
  }
}

TEST_F(RemoteSetTest, BlocksOfOtherObjectsAreNeverUsed) {
  World world(place_count);
  protect_old(world);
  // Each object has the bytes of its neighbour, whose checksums are good in themselves.
  for (const std::size_t index : {1UL, 3UL}) {
    Objects& objects = world.places[index];
    std::vector<std::byte> first = objects.begin()->second;
    for (auto at = objects.begin(); at != objects.end(); ++at) {
      const auto next = std::next(at);
      at->second = next == objects.end() ? first : next->second;
    }
  }
  expect_everywhere(world, old_, 0);
}

TEST_F(RemoteSetTest, WrongBytesOfThreePlacesAreAnErrorThatNamesThem) {
  World world(place_count);
  protect_old(world);
  for (const std::size_t index : {0UL, 1UL, 3UL}) {
    for (auto& [name, bytes] : world.places[index]) {
      if (name.find('/') != std::string::npos) bytes.back() ^= std::byte{1};
    }
  }
  const auto found = files_on(world, 0);
  if (found) {  // only padding at the end of a stripe was hit
    EXPECT_EQ(*found, old_);
  } else {
    for (const char* label : {"place0", "place1", "place3"})
      EXPECT_THAT(found.error().message, HasSubstr(label));
  }
  for (const std::size_t index : {0UL, 1UL, 3UL}) {
    for (auto& [name, bytes] : world.places[index]) {
      for (std::byte& byte : bytes)
        byte ^= std::byte{2};
    }
  }
  const auto lost = files_on(world, 0);
  ASSERT_FALSE(lost);
  for (const char* label : {"place0", "place1", "place3"})
    EXPECT_THAT(lost.error().message, HasSubstr(label));
}

TEST_F(RemoteSetTest, RolledBackPlacesNeverBringBackOldFiles) {
  World old_world(place_count);
  protect_old(old_world);
  World start = old_world;
  change();
  ASSERT_TRUE(run_update(start, source_, 1));
  for (unsigned back = 1; back < (1U << place_count) - 1; ++back) {
    World world = start;
    for (std::size_t index = 0; index < place_count; ++index) {
      if ((back >> index & 1U) != 0) world.places[index] = old_world.places[index];
    }
    const auto found = files_on(world, 0);
    if (std::popcount(back) <= static_cast<int>(parity_shards)) {
      ASSERT_TRUE(found) << back << ": " << found.error().message;
    }
    if (found) {
      EXPECT_EQ(*found, new_) << back;
    }
  }
}

TEST_F(RemoteSetTest, RepairFillsANewPlace) {
  World world(place_count);
  protect_old(world);
  world.places[3].clear();
  const auto quick = run_check(world, false, true);
  ASSERT_TRUE(quick) << quick.error().message;
  EXPECT_EQ(quick->damaged_segments, quick->segments);
  const auto repaired = run_check(world, true, true);
  ASSERT_TRUE(repaired) << repaired.error().message;
  EXPECT_EQ(repaired->objects_written, repaired->segments);
  expect_everywhere(world, old_);
}

TEST_F(RemoteSetTest, VerifyReportsItsProgressInBytes) {
  World world(place_count);
  protect_old(world);
  Places places = places_of(world);
  const std::vector<RemoteSet> sets = sets_on(places);
  ASSERT_FALSE(sets.empty());
  std::vector<std::uint64_t> done;
  std::uint64_t total = 0;
  CheckOptions options;
  options.on_progress = [&](std::uint64_t bytes, std::uint64_t all) {
    done.push_back(bytes);
    total = all;
  };
  const auto checked = check_on_places(places, sets.front(), options);
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(done.size(), checked->segments);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  ASSERT_FALSE(done.empty());
  EXPECT_EQ(done.back(), total);
  EXPECT_EQ(total, checked->newest.header.content_bytes);
}

TEST_F(RemoteSetTest, AnUpdateListsTheSetAgain) {
  World world(place_count);
  protect_old(world);
  Places places = places_of(world);
  const RemoteSet before = sets_on(places).front();
  change();
  ASSERT_TRUE(run_update(world, source_));
  source_.write("d", 'D', 1200);
  const auto late = update_on_places(places, before, source_.path(), {});
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->added, (std::vector<std::string>{"d"}));
  expect_everywhere(world, source_.files());
}

TEST_F(RemoteSetTest, AnUpdateThatWouldRemoveMostIsRefused) {
  World world(place_count);
  protect_old(world);
  const Result<TemporaryFolder> empty = TemporaryFolder::create();
  Places places = places_of(world);
  const auto report = update_on_places(places, sets_on(places).front(), empty->path(), {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::invalid_argument);
  expect_everywhere(world, old_);
}

TEST_F(RemoteSetTest, AnUpdateOfADamagedSetIsRefused) {
  World world(place_count);
  protect_old(world);
  world.places[2].clear();
  change();
  const auto report = run_update(world, source_);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("run calpe remote repair"));
}

}  // namespace
}  // namespace calpe::remote
