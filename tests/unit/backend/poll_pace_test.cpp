// SPDX-License-Identifier: Apache-2.0
// Polls a model of work that ends at a given time, without a clock.
#include "backend/gpu/poll_pace.hpp"

#include <gtest/gtest.h>

namespace calpe::backend::gpu {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

// Time at which work is seen to be done that ends after `work`, if every sleep is late.
nanoseconds seen_after(nanoseconds work) {
  constexpr nanoseconds poll{500};
  nanoseconds now{0};
  while (now < work) {
    const nanoseconds pause = pause_after(now);
    now += poll + (pause.count() == 0 ? nanoseconds(0) : pause + sleep_slack);
  }
  return now;
}

TEST(PollPaceTest, SeesTheEndAtMostFivePercentLate) {
  for (nanoseconds work = microseconds(100); work < std::chrono::seconds(1); work += work / 97)
    EXPECT_LE(seen_after(work).count(), (work + work / 20).count() + 500) << work.count();
}

TEST(PollPaceTest, SleepsDuringLongWork) {
  EXPECT_EQ(pause_after(microseconds(1600)), microseconds(20));
  EXPECT_EQ(pause_after(std::chrono::milliseconds(10)), microseconds(440));
  EXPECT_EQ(pause_after(std::chrono::seconds(30)), longest_pause);
}

}  // namespace
}  // namespace calpe::backend::gpu
