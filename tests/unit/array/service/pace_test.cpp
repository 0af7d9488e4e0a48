// SPDX-License-Identifier: Apache-2.0
#include "array/service/pace.hpp"

#include <gtest/gtest.h>

namespace calpe::array {
namespace {

using namespace std::chrono_literals;

TEST(Pace, RateZeroDoesNotWait) {
  Pace pace;
  const Pace::Clock::time_point now(10s);
  EXPECT_EQ(pace.after(1 << 30, 0, now), now);
}

TEST(Pace, TheRateIsKeptOverManySteps) {
  Pace pace;
  Pace::Clock::time_point now(10s);
  const Pace::Clock::time_point begin = now;
  for (int i = 0; i < 100; ++i)
    now = std::max(now + 1ms, pace.after(1'000'000, 50'000'000, now));
  const double seconds = std::chrono::duration<double>(now - begin).count();
  EXPECT_NEAR(seconds, 2.0, 0.15);  // 100 MB at 50 MB/s, minus the allowance at the start
  EXPECT_NEAR(static_cast<double>(pace.measured()), 50e6, 5e6);
}

TEST(Pace, IdleTimeGivesNoCredit) {
  Pace pace;
  pace.after(1'000'000, 1'000'000, Pace::Clock::time_point(10s));
  const Pace::Clock::time_point later(1000s);
  EXPECT_GE(pace.after(1'000'000, 1'000'000, later), later + 900ms);
}

}  // namespace
}  // namespace calpe::array
