// SPDX-License-Identifier: Apache-2.0
#include "durability/estimate.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "durability/probability.hpp"
#include "durability/published.hpp"
#include "durability/read_errors.hpp"
#include "durability/window_model.hpp"

namespace calpe::durability {
namespace {

Inputs usual() {
  Inputs in;
  in.life = *life_from_afr(0.015);
  return in;
}

struct TableRow {
  unsigned data;
  unsigned parity;
  double device_losses;
  double lost_stripes;
  double any_in_mission;
};

// 20 TB, 80 % full, AFR 1.5 %, 1e-15, 30 % of 200 MB/s, 12.5 h, 5 years. Computed by an independent
// program with 50 digits.
constexpr TableRow table[] = {
    {8, 1, 1.6201539510e-04, 1.3928728138e-01, 5.0204545633e-01},
    {8, 2, 1.2096912645e-07, 2.0791176479e-04, 1.0396228868e-03},
    {14, 2, 5.6376411630e-07, 9.7025487792e-04, 4.8423311388e-03},
    {17, 3, 9.7034217530e-10, 2.5060468306e-06, 1.2535007300e-05},
    {10, 4, 7.4912637751e-14, 2.5761778371e-10, 1.2884634470e-09},
};

TEST(Estimate, TwentyTerabyteTable) {
  for (const TableRow& row : table) {
    const Estimate e = estimate(mds_scheme(row.data, row.parity), usual());
    EXPECT_NEAR(e.rebuild.hours(), 86.574, 1e-3);
    EXPECT_NEAR(e.device_losses / row.device_losses, 1, 1e-6) << row.data << "+" << row.parity;
    EXPECT_NEAR(e.lost_stripes / row.lost_stripes, 1, 1e-4) << row.data << "+" << row.parity;
    EXPECT_NEAR(e.mission.any / row.any_in_mission, 1, 1e-3) << row.data << "+" << row.parity;
    EXPECT_LE(e.mission.any_clustered, e.mission.any);
  }
}

TEST(Estimate, TenTerabytesReadOnce) {
  Inputs in = usual();
  in.capacity_bytes = 1e12;
  in.fill = 1;
  in.shard_bytes = 1e6;
  EXPECT_NEAR(survives_full_read(mds_scheme(10, 0), in), 0.92312, 5e-6);
  in.read_errors_per_bit = 1e-14;
  EXPECT_NEAR(survives_full_read(mds_scheme(10, 0), in), std::exp(-0.8), 1e-6);
  in.read_errors_per_bit = 0;
  EXPECT_EQ(survives_full_read(mds_scheme(10, 0), in), 1);
}

TEST(Estimate, RecomputesPublishedNumbers) {
  const std::vector<PublishedFigure> figures = published_figures();
  ASSERT_EQ(figures.size(), 5U);
  EXPECT_NEAR(figures[0].computed, 92.31, 0.005);
  EXPECT_NEAR(figures[1].computed, 1.01855e8, 1e3);
  EXPECT_FALSE(figures[1].is_confirmed);
  EXPECT_NE(figures[1].standing.find("Off by 1000"), std::string::npos);
  EXPECT_NEAR(figures[2].computed / figures[1].computed, 1, 2e-3);
  EXPECT_NEAR(figures[3].computed, 7.354e-12, 5e-16);
  EXPECT_NEAR(figures[4].computed, 2.933e-11, 1e-14);
}

TEST(Estimate, TheWindowModelIsOptimistic) {
  Inputs in = usual();
  for (const unsigned parity : {1U, 2U, 3U}) {
    in.model = Model::window;
    const double window = estimate(mds_scheme(10, parity), in).device_losses;
    in.model = Model::chain;
    const double chain = estimate(mds_scheme(10, parity), in).device_losses;
    EXPECT_NEAR(chain / window, parity + 1, 0.05) << parity;
  }
}

TEST(Estimate, RebuildTimeAndItsBottleneck) {
  Inputs in = usual();
  EXPECT_EQ(rebuild_time(in, 10).bottleneck, Bottleneck::write);
  EXPECT_NEAR(rebuild_time(in, 10).transfer_hours, 16e12 / 60e6 / 3600, 1e-9);
  in.read_bytes_per_s = 100e6;
  EXPECT_EQ(rebuild_time(in, 10).bottleneck, Bottleneck::read);
  EXPECT_NEAR(rebuild_time(in, 10).transfer_hours, 16e12 / 30e6 / 3600, 1e-9);
  in.network_bytes_per_s = 125e6;
  EXPECT_EQ(rebuild_time(in, 10).bottleneck, Bottleneck::network);
  EXPECT_NEAR(rebuild_time(in, 10).transfer_hours, 16e12 * 11 / 125e6 / 3600, 1e-9);
  in.decode_bytes_per_s = 50e6;
  EXPECT_EQ(rebuild_time(in, 10).bottleneck, Bottleneck::decode);
  EXPECT_NEAR(rebuild_time(in, 6).transfer_hours, 16e12 * 6 / 50e6 / 3600, 1e-9);
  in.decode_bytes_per_s.reset();
  in.network_bytes_per_s.reset();
  in.pool_devices = 101;
  EXPECT_EQ(rebuild_time(in, 10).bottleneck, Bottleneck::pool);
  EXPECT_NEAR(rebuild_time(in, 10).transfer_hours, 16e12 * 11 / (100 * 30e6) / 3600, 1e-9);
  in.repair_hours = 24;
  EXPECT_EQ(rebuild_time(in, 10).hours(), 24);
}

TEST(Estimate, GroupsAddUp) {
  Inputs in = usual();
  const Estimate one = estimate(mds_scheme(8, 2), in);
  in.devices = 1005;  // 100 groups and 5 unused devices
  const Estimate many = estimate(mds_scheme(8, 2), in);
  EXPECT_EQ(many.groups, 100);
  EXPECT_NEAR(many.device_losses / one.device_losses, 100, 1e-9);
  EXPECT_NEAR(many.year.any / one.year.any, 100, 1.5);
  EXPECT_NEAR(many.nomdl / one.nomdl, 1, 1e-9);
  EXPECT_NEAR(many.usable_bytes, 100 * 8 * 16e12, 1);
  EXPECT_NEAR(many.failures_per_year, 1005 * 0.015114, 0.001);
}

TEST(Estimate, ShocksByHand) {
  // 2+1 with a hit probability of 10 %: 3 * 0.01 * 0.9 + 0.001.
  EXPECT_NEAR(shock_loss(mds_scheme(2, 1), 0.1), 0.028, 1e-12);
  Inputs in = usual();
  in.shocks_per_year = 0.5;
  EXPECT_NEAR(estimate(mds_scheme(2, 1), in).correlated_losses, 0.014, 1e-12);
  EXPECT_NEAR(estimate(mds_scheme(2, 1), in).year.correlated, -std::expm1(-0.014), 1e-12);
}

TEST(Estimate, StripesThatOneRebuildLosesAreOneEvent) {
  const Estimate e = estimate(mds_scheme(8, 1), usual());
  EXPECT_NEAR(e.lost_stripes, 0.139, 0.001);
  EXPECT_NEAR(e.read_error_losses, 0.0870, 0.0005);
  EXPECT_LT(e.mission.any_clustered, 0.36);
  EXPECT_GT(e.mission.any, 0.50);
}

TEST(Estimate, LatentErrorsAccumulateBetweenScrubs) {
  Inputs in = usual();
  in.read_errors_per_bit = 0;
  in.latent_errors_per_tb_year = 2;
  in.scrub_days = 36.525;
  EXPECT_NEAR(unreadable_shard(in), 2 * (1 << 20) / 1e12 * 0.1 / 2, 1e-15);
  in.scrub_days = 0;  // never, so for the whole mission
  EXPECT_NEAR(unreadable_shard(in), 2 * (1 << 20) / 1e12 * 5 / 2, 1e-15);
}

TEST(Estimate, ExtremeInputsStayNumbers) {
  Inputs in = usual();
  in.life = *life_from_afr(0);
  in.read_errors_per_bit = 0;
  const Estimate never = estimate(mds_scheme(10, 4), in);
  EXPECT_EQ(never.year.any, 0);
  EXPECT_TRUE(std::isinf(never.nines));
  EXPECT_EQ(never.nomdl, 0);
  in.life = *life_from_afr(1 - 1e-15);
  for (const unsigned parity : {0U, 1U, 4U}) {
    const Estimate often = estimate(mds_scheme(10, parity), in);
    EXPECT_GT(often.year.any, 0.4) << parity;
    EXPECT_LE(often.year.any, 1) << parity;
    EXPECT_LE(often.nomdl, 1) << parity;
  }
  EXPECT_FALSE(life_from_afr(1));
  EXPECT_FALSE(life_from_afr(-0.1));
  EXPECT_FALSE(life_from_afr(std::nan("")));
  EXPECT_NE(life_from_afr(1.5).error().message.find("1.5% or 0.015"), std::string::npos);
}

TEST(Estimate, BadInputsAreNamed) {
  const Scheme scheme = mds_scheme(10, 4);
  const auto message = [&](auto change) {
    Inputs in = usual();
    change(in);
    const Status status = check(in, scheme);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(message([](Inputs&) {}), "");
  EXPECT_EQ(message([](Inputs& in) { in.write_bytes_per_s = 0; }),
            "write bandwidth is 0; expected more than 0 bytes per second");
  EXPECT_EQ(message([](Inputs& in) { in.network_bytes_per_s = 0; }).rfind("network", 0), 0U);
  EXPECT_EQ(message([](Inputs& in) { in.decode_bytes_per_s = -1; }).rfind("decode rate", 0), 0U);
  EXPECT_EQ(message([](Inputs& in) { in.rebuild_share = 1.5; }),
            "rebuild share is 1.5; expected more than 0, at most 1");
  EXPECT_EQ(message([](Inputs& in) { in.devices = 13; }),
            "number of devices is 13; expected at least 14, one group of 10+4");
  EXPECT_EQ(message([](Inputs& in) { in.pool_devices = 13; }),
            "pool is 13 devices; expected at least the 14 shards of 10+4");
  EXPECT_NE(message([](Inputs& in) { in.capacity_bytes = 0; }), "");
  EXPECT_NE(message([](Inputs& in) { in.fill = 0; }), "");
  EXPECT_NE(message([](Inputs& in) { in.shard_bytes = 1e15; }), "");
  EXPECT_NE(message([](Inputs& in) { in.read_errors_per_bit = 1; }), "");
  EXPECT_NE(message([](Inputs& in) { in.mission_years = 0; }), "");
  EXPECT_NE(message([](Inputs& in) { in.batch_factor = 0.5; }), "");
  EXPECT_NE(message([](Inputs& in) { in.shock_hit = 2; }), "");
  EXPECT_NE(message([](Inputs& in) { in.scrub_days = -1; }), "");
  EXPECT_NE(message([](Inputs& in) { in.repair_hours = 0; }), "");
}

TEST(Estimate, WeibullIsItsMeanRateOverTheMission) {
  // Few replacements so far: the hazard (t / scale)^shape / t, less the second failures.
  const DeviceLife early = *life_from_weibull(2, 87'600);
  EXPECT_NEAR(early.mean_rate(876) * 876, 1e-4, 1e-7);
  // Many generations: one per mean life.
  const DeviceLife late = *life_from_weibull(1.5, 100);
  EXPECT_NEAR(late.mean_rate(3000), 1 / (100 * std::tgamma(1 + 1 / 1.5)), 1e-4);
  // Shape 1, computed in steps and directly.
  EXPECT_NEAR(life_from_weibull(1 + 1e-9, 87'600)->mean_rate(43'830) * 87'600, 1, 1e-5);
  EXPECT_EQ(life_from_weibull(1, 87'600)->mean_rate(43'830), 1 / 87'600.0);
}

}  // namespace
}  // namespace calpe::durability
