// SPDX-License-Identifier: Apache-2.0
// How many places may be lost, repair with too few places, and shards that move to new ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_sets.hpp"

namespace calpe::remote {
namespace {

using testing::HasSubstr;

class CrowdedPlaces : public testing::Test {
 protected:
  // 2+1 on three places.
  CrowdedPlaces() : world_(3) {
    source_.make_old();
    ProtectOptions options = protect_options();
    options.spec.parity_shards = 1;
    Places places = places_of(world_);
    const auto made = protect_on_places(places, source_.path(), options);
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->places_may_fail, 1U);
  }

  // The command on the places that are not in `lost`.
  Result<CheckReport> check(CheckOptions options, unsigned lost = 0) {
    options.change = change_of(world_);
    Places places = places_of(world_, lost);
    const std::vector<RemoteSet> sets = sets_on(places);
    if (sets.empty()) return make_error(ErrorCode::io, "no set");
    return check_on_places(places, sets.front(), options);
  }
  void expect_any_may_be_lost(unsigned places) {
    for (unsigned lost = 1; lost < 1U << world_.places.size(); lost <<= 1U) {
      const auto files = files_on(world_, lost | ~places);
      ASSERT_TRUE(files) << lost << ": " << files.error().message;
      EXPECT_EQ(*files, source_.files());
    }
  }
  std::size_t objects_on(std::size_t place) const { return world_.places[place].size(); }

  World world_;
  Source source_;
};

TEST_F(CrowdedPlaces, VerifyCountsThePlacesThatMayBeLost) {
  for (const bool is_quick : {false, true}) {
    const auto report = check({.is_quick = is_quick});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->losses.may_fail, 1U);
    EXPECT_EQ(report->losses.promised, 1U);
    EXPECT_EQ(report->losses.places, 3U);
    EXPECT_FALSE(report->losses.is_weaker());
  }
  // All objects of the third place are also on the second: nothing more may be lost.
  for (const auto& [name, bytes] : world_.places[2])
    world_.places[1].emplace(name, bytes);
  EXPECT_EQ(check({})->losses.may_fail, 1U);
  // Two of three shards are on the second place only.
  world_.places[2].clear();
  const auto crowded = check({});
  ASSERT_TRUE(crowded) << crowded.error().message;
  EXPECT_EQ(crowded->damaged_segments, 0U);
  EXPECT_EQ(crowded->losses.may_fail, 0U);
  EXPECT_EQ(crowded->losses.possible, 1U);
  EXPECT_TRUE(crowded->losses.is_weaker());
}

TEST_F(CrowdedPlaces, ACopyOfTheGenerationMustRemain) {
  for (const std::size_t place : {0UL, 1UL}) {
    std::erase_if(world_.places[place],
                  [](const auto& object) { return object.first.find(".g") != std::string::npos; });
  }
  for (const bool is_quick : {false, true}) {
    const auto report = check({.is_quick = is_quick});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->losses.may_fail, 0U);
  }
  ASSERT_TRUE(check({.repairs = true}));
  EXPECT_EQ(check({})->losses.may_fail, 1U);
}

// A disk that returns brings back a generation that the others have forgotten.
TEST_F(CrowdedPlaces, AForgottenGenerationThatReturnsIsNotLostData) {
  const Objects old = world_.places[0];
  source_.write("a", 'z', 2900);
  ASSERT_TRUE(run_update(world_, source_, 1));
  world_.places[0] = old;
  const auto found = check({});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->lost_segments, 0U);
  EXPECT_FALSE(found->is_good());
  ASSERT_FALSE(found->problems.empty());
  EXPECT_THAT(found->problems.front(), HasSubstr("it was forgotten"));
  ASSERT_TRUE(check({.repairs = true}));
  ASSERT_TRUE(run_forget(world_, 1));
  const auto clean = check({});
  ASSERT_TRUE(clean) << clean.error().message;
  EXPECT_TRUE(clean->is_good());
  EXPECT_EQ(clean->losses.may_fail, 1U);
  expect_any_may_be_lost(7);
}

TEST_F(CrowdedPlaces, LostDataHasNoNumber) {
  world_.places[0].clear();
  world_.places[1].clear();
  const auto report = check({});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->lost_segments, 0U);
  EXPECT_FALSE(report->losses.may_fail);
  EXPECT_FALSE(report->losses.is_weaker());
}

TEST_F(CrowdedPlaces, RepairDoesNotWeakenASetSilently) {
  world_.places[2].clear();
  const World before = world_;
  for (const bool is_quick : {false, true}) {
    const auto refused = check({.is_quick = is_quick, .repairs = true}, 4);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().message, HasSubstr("instead of any 1"));
    EXPECT_THAT(refused.error().message, HasSubstr("--allow-weaker"));
    EXPECT_EQ(world_.places, before.places);
  }
}

TEST_F(CrowdedPlaces, ARepairThatMayWeakenIsSpreadLater) {
  for (const bool is_quick : {false, true}) {
    world_.places[2].clear();
    const auto weaker = check({.is_quick = is_quick, .repairs = true, .allows_weaker = true}, 4);
    ASSERT_TRUE(weaker) << weaker.error().message;
    EXPECT_EQ(weaker->losses.may_fail, 0U);
    EXPECT_TRUE(weaker->losses.is_weaker());
    const auto checked = check({}, 4);
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_TRUE(checked->is_good());
    EXPECT_TRUE(checked->losses.is_weaker());
    // An update does not forget what was promised.
    source_.write("later", is_quick ? 'q' : 'l', 700);
    Places places = places_of(world_, 4);
    ASSERT_TRUE(update_on_places(places, sets_on(places).front(), source_.path(), {}));
    EXPECT_TRUE(check({}, 4)->losses.is_weaker());

    const auto spread = check({.is_quick = is_quick, .repairs = true});
    ASSERT_TRUE(spread) << spread.error().message;
    EXPECT_EQ(spread->objects_moved, spread->segments);
    EXPECT_EQ(spread->objects_written, spread->segments);
    EXPECT_EQ(spread->losses.may_fail, 1U);
    expect_any_may_be_lost(7);
    EXPECT_EQ(objects_on(0), objects_on(1));
    EXPECT_EQ(objects_on(0), objects_on(2));
    EXPECT_EQ(check({.repairs = true})->objects_written, 0U);
  }
}

TEST_F(CrowdedPlaces, AKilledMoveLosesNothing) {
  world_.places[2].clear();
  ASSERT_TRUE(check({.repairs = true, .allows_weaker = true}, 4));
  const World start = world_;
  bool is_reached = true;
  for (long points = 0; is_reached; ++points) {
    world_.places = start.places;
    world_.changes = 0;
    world_.killed_at = points;
    world_.is_killed_after = points % 2 == 1;
    (void)check({.repairs = true});
    is_reached = world_.is_dead;
    world_.revive();
    EXPECT_EQ(files_on(world_, 0).value(), source_.files());
    const auto again = check({.repairs = true});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->losses.may_fail, 1U);
    expect_any_may_be_lost(7);
    if (HasFailure()) {
      ADD_FAILURE() << "killed at change " << points;
      return;
    }
  }
}

TEST_F(CrowdedPlaces, RepairRemovesWrongCopiesOfGoodObjects) {
  for (auto [name, bytes] : world_.places[0]) {
    if (name.find('/') == std::string::npos) continue;
    bytes.back() ^= std::byte{1};
    world_.places[1].emplace(name, bytes);
  }
  const std::size_t before = objects_on(1);
  EXPECT_FALSE(check({})->problems.empty());
  ASSERT_TRUE(check({.repairs = true}));
  EXPECT_TRUE(check({})->problems.empty());
  EXPECT_LT(objects_on(1), before);
  expect_any_may_be_lost(7);
}

// A generation of a calpe that stored no number: the labels tell how many places there were.
TEST_F(CrowdedPlaces, LabelsOfOldGenerationsAreAPromise) {
  Places places = places_of(world_);
  const RemoteSet set = sets_on(places).front();
  Generation generation = load_generation(places, set, set.generations.back()).value();
  const SegmentCoder coder = SegmentCoder::make(generation.header).value();
  EXPECT_EQ(generation.places_may_fail, 1U);
  generation.places_may_fail.reset();
  EXPECT_EQ(promised_losses(coder, generation), 1U);
  generation.labels = {"one", "two", "one"};
  EXPECT_EQ(promised_losses(coder, generation), 0U);
}

TEST(ShardPlaces, AreSpreadEvenly) {
  const Catalogue empty;
  EXPECT_EQ(spread_evenly({0, 0, 0, 0}, empty, 2), (Homes{0, 0, 1, 1}));
  EXPECT_EQ(spread_evenly({0, 0, 1}, empty, 3), (Homes{0, 2, 1}));
  EXPECT_EQ(spread_evenly({0, 1, 2}, empty, 5), (Homes{0, 1, 2}));
}

}  // namespace
}  // namespace calpe::remote
