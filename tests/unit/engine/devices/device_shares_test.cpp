// SPDX-License-Identifier: Apache-2.0
// Computes shares from rates and overheads.
#include "engine/devices/device_shares.hpp"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace calpe::engine {
namespace {

using Speeds = std::vector<DeviceSpeed>;
using Shares = std::vector<double>;
using Ends = std::vector<std::size_t>;

TEST(DeviceShares, FollowTheRates) {
  const Shares shares = choose_shares(Speeds{{0, 3e9}, {0, 1e9}}, 1e8);
  EXPECT_NEAR(shares[0], 0.75, 1e-12);
  EXPECT_NEAR(shares[1], 0.25, 1e-12);
  EXPECT_EQ(choose_shares(Speeds{{1e-3, 5e9}}, 1e8), Shares{1});
}

// 40 ms of work at 1 GB/s each. The second device starts 10 ms late: 25 + 15.
TEST(DeviceShares, OverheadIsTimeLost) {
  const Shares shares = choose_shares(Speeds{{0, 1e9}, {0.01, 1e9}}, 4e7);
  EXPECT_NEAR(shares[0], 25.0 / 40, 1e-12);
  EXPECT_NEAR(shares[1], 15.0 / 40, 1e-12);
}

TEST(DeviceShares, TenTimesSlowerIsNotUsed) {
  EXPECT_EQ(choose_shares(Speeds{{0, 1e9}, {0, 1e8}}, 1e8), (Shares{1, 0}));
  EXPECT_EQ(choose_shares(Speeds{{0, 1e8}, {0, 1e9}}, 1e8), (Shares{0, 1}));
  // A device half as fast is used, also next to one that is not.
  const Shares shares = choose_shares(Speeds{{0, 1e8}, {0, 2e9}, {0, 1e9}}, 1e8);
  EXPECT_EQ(shares[0], 0);
  EXPECT_NEAR(shares[1], 2.0 / 3, 1e-12);
  EXPECT_NEAR(shares[2], 1.0 / 3, 1e-12);
}

TEST(DeviceShares, LongLaunchIsNotUsedUntilTheJobIsLarge) {
  const Speeds speeds = {{0, 1e9}, {0.001, 50e9}};
  EXPECT_EQ(choose_shares(speeds, 1e5), (Shares{1, 0}));
  const Shares large = choose_shares(speeds, 1e9);
  EXPECT_EQ(large[0], 0);  // 2 % is not worth it
  EXPECT_EQ(large[1], 1);
  EXPECT_EQ(choose_shares(speeds, 0), (Shares{1, 0}));
}

// No shares beat the chosen ones by more than an unused device could have gained.
TEST(DeviceShares, NearTheBestOfAllShares) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 300; ++i) {
    Speeds speeds;
    for (int d = 0; d < 3; ++d)
      speeds.push_back({unit(rng) * 0.02, 1e9 * std::pow(30, unit(rng))});
    const double bytes = 1e6 * std::pow(1000, unit(rng));
    const Shares shares = choose_shares(speeds, bytes);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9);
    const double chosen = shared_seconds(speeds, shares, bytes);
    double best = chosen;
    for (int a = 0; a <= 50; ++a) {
      for (int b = 0; a + b <= 50; ++b) {
        const Shares other = {a / 50.0, b / 50.0, (50 - a - b) / 50.0};
        best = std::min(best, shared_seconds(speeds, other, bytes));
      }
    }
    EXPECT_LE(chosen, best / ((1 - least_gain) * (1 - least_gain)) + 1e-12);
  }
}

TEST(DeviceShares, RunsGiveSpeed) {
  const DeviceSpeed speed = DeviceSpeed::from_runs(8e6, 0.010, 1e6, 0.003);
  EXPECT_NEAR(speed.bytes_per_second, 1e9, 1);
  EXPECT_NEAR(speed.overhead_seconds, 0.002, 1e-12);
  // Noise: the smaller job took as long, or no time.
  for (const double fewer_seconds : {0.010, 0.020, 0.0}) {
    const DeviceSpeed noisy = DeviceSpeed::from_runs(8e6, 0.010, 1e6, fewer_seconds);
    EXPECT_GE(noisy.overhead_seconds, 0);
    EXPECT_NEAR(noisy.seconds(8e6), 0.010, 1e-9);
  }
  EXPECT_NEAR(DeviceSpeed::from_runs(8, 2, 8, 2).bytes_per_second, 4, 1e-12);
}

TEST(DeviceShares, EndsCoverEverything) {
  EXPECT_EQ(share_ends(Shares{0.75, 0.25}, 100), (Ends{75, 100}));
  EXPECT_EQ(share_ends(Shares{0, 1, 0}, 7), (Ends{0, 7, 7}));
  EXPECT_EQ(share_ends(Shares{0.5, 0, 0.5}, 5), (Ends{3, 3, 5}));
  EXPECT_EQ(share_ends(Shares{0.5, 0.5}, 1000, 64), (Ends{512, 1000}));
  EXPECT_EQ(share_ends(Shares{0.01, 0.99}, 3), (Ends{0, 3}));
  EXPECT_EQ(share_ends(Shares{0.99, 0.01}, 3), (Ends{3, 3}));
  EXPECT_EQ(share_ends(Shares{0.3, 0.3, 0.4}, 0), (Ends{0, 0, 0}));
  EXPECT_EQ(share_ends(Shares{1.0 / 3, 1.0 / 3, 1.0 / 3}, 6), (Ends{2, 4, 6}));
}

}  // namespace
}  // namespace calpe::engine
