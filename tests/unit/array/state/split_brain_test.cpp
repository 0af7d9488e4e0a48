// SPDX-License-Identifier: Apache-2.0
// Distinguishes a member that was in use without the others from one that was merely away.
#include <gtest/gtest.h>

#include "array/state/member_probe.hpp"

namespace calpe::array {
namespace {

constexpr MemberState in = MemberState::in;
constexpr MemberState out = MemberState::out;

// Members 0..n-1 with a uuid each, in session 7 after session 5 that ended with epoch 40.
Superblock superblock(const std::vector<MemberState>& states) {
  Superblock made;
  made.epoch = 50;
  made.previous = 49;
  made.session = 7;
  made.past = {{.session = 5, .last_epoch = 40}};
  for (std::size_t role = 0; role < states.size(); ++role) {
    RoleRecord& record = made.roles.emplace_back();
    record.uuid[0] = static_cast<std::byte>(role + 1);
    record.state = states[role];
    record.out_epoch = 41;
  }
  return made;
}

Superblock of_session(Superblock made, std::uint64_t session, std::uint64_t epoch) {
  made.session = session;
  made.epoch = epoch;
  return made;
}

TEST(SplitBrain, BothSidesWereInUseWithoutTheOther) {
  const Superblock newest = superblock({in, in, out, out});
  const Superblock other = of_session(superblock({out, out, in, in}), 6, 45);
  EXPECT_TRUE(has_diverged(other, newest, 2));
  EXPECT_TRUE(has_diverged(other, newest, 3));
}

TEST(SplitBrain, AMemberThatWasAwayIsAnAncestor) {
  const Superblock newest = superblock({in, in, out, out});
  const Superblock before = superblock({in, out, in, in});
  EXPECT_FALSE(has_diverged(of_session(before, 5, 40), newest, 2));
  EXPECT_FALSE(has_diverged(of_session(before, 7, 50), newest, 2));
  const Superblock alone = superblock({out, out, in, in});
  EXPECT_FALSE(has_diverged(of_session(alone, 5, 40), newest, 2));
  EXPECT_TRUE(has_diverged(of_session(alone, 5, 41), newest, 2)) << "later than the others know";
}

// A power cut ended an opening before member 0 learned of it.
TEST(SplitBrain, AnInterruptedOpeningHasNotDiverged) {
  const Superblock newest = superblock({in, in, out, out});
  const Superblock begun = of_session(superblock({in, out, in, out}), 6, 45);
  EXPECT_FALSE(has_diverged(begun, newest, 2));
  Superblock replaced = begun;
  replaced.roles[0].uuid[0] = std::byte{99};  // another disk has that role now
  EXPECT_TRUE(has_diverged(replaced, newest, 2));
  Superblock rebuilding = newest;
  rebuilding.roles[0].state = MemberState::rebuilding;
  EXPECT_TRUE(has_diverged(begun, rebuilding, 2));
}

}  // namespace
}  // namespace calpe::array
