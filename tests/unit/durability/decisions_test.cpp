// SPDX-License-Identifier: Apache-2.0
#include "durability/decisions.hpp"

#include <gtest/gtest.h>

namespace calpe::durability {
namespace {

Inputs usual() {
  Inputs in;
  in.life = *life_from_afr(0.015);
  return in;
}

TEST(Decisions, WorseInputsGiveFewerNines) {
  const Scheme scheme = mds_scheme(10, 3);
  const double before = estimate(scheme, usual()).nines;
  const std::vector<Sensitivity> list = sensitivities(scheme, usual());
  ASSERT_EQ(list.size(), 5U);
  for (const Sensitivity& each : list)
    EXPECT_LT(each.nines, before) << each.change;
  // 10+3 loses data mainly by read errors, so tenfold read errors mean x10.
  EXPECT_NEAR(list[1].year.any / estimate(scheme, usual()).year.any, 10, 0.1);
  // Losses by read errors grow with the cube of the failure rate: x1000.
  EXPECT_NEAR(list[0].year.read_error / estimate(scheme, usual()).year.read_error, 1000, 10);
  EXPECT_GT(list[4].year.correlated, 0);
}

TEST(Decisions, SmallestParity) {
  const auto make = [](unsigned parity) { return std::optional(mds_scheme(10, parity)); };
  for (const double nines : {0.5, 3.0, 6.0, 9.0, 11.0, 15.0}) {
    const std::optional<Scheme> found = smallest_parity(make, usual(), nines);
    ASSERT_TRUE(found) << nines;
    EXPECT_GE(estimate(*found, usual()).nines, nines);
    if (found->parity_shards > 0) {
      EXPECT_LT(estimate(mds_scheme(10, found->parity_shards - 1), usual()).nines, nines);
    }
  }
  Inputs shocks = usual();
  shocks.shocks_per_year = 1;
  shocks.shock_hit = 1;
  EXPECT_FALSE(smallest_parity(make, shocks, 3));
  const auto even = [&](unsigned parity) { return parity % 2 == 0 ? make(parity) : std::nullopt; };
  EXPECT_EQ(smallest_parity(even, usual(), 6)->parity_shards % 2, 0U);
}

TEST(Decisions, TrafficOfAFleet) {
  Inputs in = usual();
  in.life = *life_from_rate(0.01461);  // 4e-5 a day
  const RepairTraffic rs = repair_traffic(mds_scheme(12, 4), in, 200'000);
  EXPECT_NEAR(rs.failures_per_day, 8, 1e-9);
  EXPECT_NEAR(rs.written_bytes_per_day, 8 * 16e12, 1);
  EXPECT_NEAR(rs.read_bytes_per_day, 12 * 8 * 16e12, 100);
  Scheme lrc = mds_scheme(12, 4);
  lrc.single_reads = 6.75;
  EXPECT_NEAR(repair_traffic(lrc, in, 200'000).read_bytes_per_day / rs.read_bytes_per_day,
              6.75 / 12, 1e-12);
}

}  // namespace
}  // namespace calpe::durability
