// SPDX-License-Identifier: Apache-2.0
// Two commands that change a set at the same time, interleaved at every pair of operations, and
// marks of commands that were killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hex_digits.hpp"
#include "base/threads.hpp"
#include "small_sets.hpp"

namespace calpe::remote {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr std::size_t two_places = 2;

// Says what a command has done: an empty error if it succeeded.
using Command = std::function<std::string(World&, const Turn&)>;

template <class Report>
std::string error_of(const Result<Report>& result) {
  return result ? std::string() : result.error().message;
}

Command updates(const Source& source, std::size_t keep) {
  return [&source, keep](World& world, const Turn& turn) {
    return error_of(run_update(world, source, keep, turn));
  };
}

Command forgets() {
  return [](World& world, const Turn& turn) { return error_of(run_forget(world, 1, turn)); };
}

Command repairs() {
  return
      [](World& world, const Turn& turn) { return error_of(run_check(world, true, false, turn)); };
}

struct Outcome {
  std::array<std::string, 2> errors;
  std::array<long, 2> operations = {0, 0};
};

Outcome run_both(World& world, const std::array<Command, 2>& commands, long first, long second) {
  Turns turns(first, second);
  Outcome outcome;
  const auto run = [&](std::size_t command) {
    outcome.errors[command] = commands[command](world, {&turns, command});
    turns.end(command);
  };
  std::thread other = start_thread("second command", [&] { run(1); });
  run(0);
  other.join();
  outcome.operations = {turns.operations_of(0), turns.operations_of(1)};
  return outcome;
}

class ConcurrentChange : public testing::Test {
 protected:
  ConcurrentChange() : start_(two_places) {
    source_.write("b", 'B', 700);
    ProtectOptions options = protect_options();
    options.spec.data_shards = 1;
    options.spec.parity_shards = 1;
    options.segment_bytes = 4096;
    Places places = places_of(start_);
    const auto made = protect_on_places(places, source_.path(), options);
    EXPECT_TRUE(made) << made.error().message;
    for (const auto& [name, content] : source_.files()) {
      for (Source* other : {&left_, &right_})
        other->write(name, content);
    }
    left_.write("left", 'L', 900);
    right_.write("right", 'R', 800);
  }

  // Every interleaving with two switches. `check` gets the places after both have ended.
  void interleave(const Command& first, const Command& second,
                  const std::function<void(World&, const Outcome&)>& check) {
    long both = 0;
    Outcome last;
    for (long i = 0; i == 0 || i <= last.operations[0]; ++i) {
      for (long j = 0; j == 0 || j <= last.operations[1]; ++j) {
        World world = start_;
        last = run_both(world, {first, second}, i, j);
        for (const std::string& error : last.errors) {
          if (!error.empty()) {
            EXPECT_THAT(error, AnyOf(HasSubstr("is being changed by calpe remote test"),
                                     HasSubstr("another command changed")));
          }
        }
        both += last.errors[0].empty() && last.errors[1].empty() ? 1 : 0;
        EXPECT_TRUE(marks_on(world).empty()) << "a mark is left";
        check(world, last);
        if (HasFailure()) {
          ADD_FAILURE() << "first command stopped before operation " << i << ", second before " << j
                        << ": \"" << last.errors[0] << "\", \"" << last.errors[1] << '"';
          return;
        }
      }
    }
    EXPECT_GT(both, 0) << "one after the other must succeed";
  }

  // Names of the states of all generations that are listed. Each can be restored, also without one
  // place.
  std::vector<std::string> restore_all(World& world,
                                       const std::vector<unsigned>& losses = {0, 1, 2}) const {
    std::vector<std::string> all;
    Places places = places_of(world);
    const RemoteSet set = sets_on(places).front();
    for (const GenerationCopies& copies : set.generations) {
      for (const unsigned lost : losses) {
        const auto files = files_on(world, lost, copies.number);
        EXPECT_TRUE(files) << "generation " << copies.number << ": " << files.error().message;
        if (files && lost == 0) all.push_back(name_of(*files));
      }
    }
    return all;
  }
  std::string name_of(const Files& files) const {
    if (files == source_.files()) return "old";
    if (files == left_.files()) return "left";
    return files == right_.files() ? "right" : "unknown";
  }

  World start_;
  Source source_;
  Source left_;
  Source right_;
};

TEST_F(ConcurrentChange, TwoUpdatesKeepEveryAcknowledgedGeneration) {
  interleave(updates(left_, 3), updates(right_, 3), [&](World& world, const Outcome& outcome) {
    const std::vector<std::string> all = restore_all(world);
    EXPECT_THAT(all, testing::Contains("old"));
    if (outcome.errors[0].empty()) {
      EXPECT_THAT(all, testing::Contains("left"));
    }
    if (outcome.errors[1].empty()) {
      EXPECT_THAT(all, testing::Contains("right"));
    }
  });
}

TEST_F(ConcurrentChange, ForgetLeavesWhatAnUpdateWrote) {
  const Result<WriteReport> older = run_update(start_, right_, 3);
  ASSERT_TRUE(older) << older.error().message;
  // The update returns to content whose objects are stored, and which forget may remove.
  interleave(updates(source_, 3), forgets(), [&](World& world, const Outcome& outcome) {
    const std::vector<std::string> all = restore_all(world);
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.back(), outcome.errors[0].empty() ? "old" : "right");
  });
}

TEST_F(ConcurrentChange, RepairDoesNotBringBackWhatAnUpdateForgot) {
  for (auto& [name, bytes] : start_.places[0]) {
    if (name.find('/') != std::string::npos) bytes.back() ^= std::byte{1};
  }
  interleave(updates(left_, 1), repairs(), [&](World& world, const Outcome& outcome) {
    // The first place has wrong bytes if repair was refused.
    const std::vector<std::string> all = restore_all(world, {0, 1});
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.back(), outcome.errors[0].empty() ? "left" : "old");
    EXPECT_EQ(all.size(), 1U);
  });
}

TEST_F(ConcurrentChange, AKilledCommandBlocksOthersUntilItIsNamed) {
  long points = 0;
  for (bool is_reached = true; is_reached; ++points) {
    World world = start_;
    world.killed_at = points;
    (void)run_update(world, left_, 3);
    is_reached = world.is_dead;
    world.is_dead = false;
    world.killed_at = -1;
    const std::vector<std::uint64_t> marks = marks_on(world);
    const auto refused = run_update(world, right_, 3);
    if (marks.empty()) {
      EXPECT_TRUE(refused) << refused.error().message;
      continue;
    }
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("is being changed by"));
    EXPECT_THAT(refused.error().message, HasSubstr("--take-over " + hex_number(marks.front())));
    EXPECT_EQ(marks_on(world), marks);
    world.revive();
    const auto updated = run_update(world, right_, 3);
    ASSERT_TRUE(updated) << updated.error().message;
    EXPECT_TRUE(marks_on(world).empty());
    restore_all(world);
    EXPECT_EQ(name_of(files_on(world, 0).value()), "right");
  }
  EXPECT_GT(points, 10);
}

// A living command that loses its mark ends with an error at its next step.
TEST_F(ConcurrentChange, ACommandThatWasTakenOverNoticesIt) {
  for (long operation = 8; operation < 40; ++operation) {
    World world = start_;
    const Command takes_over = [&](World& there, const Turn& turn) {
      there.was_killed = true;  // which is wrong
      return error_of(run_update(there, right_, 3, turn));
    };
    const Outcome outcome = run_both(world, {updates(left_, 3), takes_over}, operation, 1L << 30U);
    EXPECT_EQ(outcome.errors[1], "");
    const std::vector<std::string> all = restore_all(world);
    SCOPED_TRACE(testing::Message() << operation << ": " << outcome.errors[0]);
    EXPECT_THAT(all, testing::Contains("right"));
    if (outcome.errors[0].empty()) {
      EXPECT_THAT(all, testing::Contains("left"));
    }
  }
}

TEST_F(ConcurrentChange, APlaceUnderTwoNamesIsRefused) {
  World world = start_;
  std::vector<UsedPlace> used;
  for (const std::size_t index : {0UL, 1UL, 0UL})
    used.push_back({.place = std::make_unique<MemoryPlace>(world, index)});
  Places places(std::move(used));
  ASSERT_TRUE(places.list_tops());
  const auto updated = update_on_places(places, sets_on(places).front(), left_.path(), {});
  ASSERT_FALSE(updated);
  EXPECT_EQ(updated.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(updated.error().message, HasSubstr("the same place as"));
  EXPECT_TRUE(marks_on(world).empty());
}

}  // namespace
}  // namespace calpe::remote
