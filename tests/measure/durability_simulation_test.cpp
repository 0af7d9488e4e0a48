// SPDX-License-Identifier: Apache-2.0
// Compares the chain with simulations that do not use its equations. Takes seconds of arithmetic,
// so it does not run under sanitizers or emulators.
#include <cmath>
#include <gtest/gtest.h>

#include "durability/estimate.hpp"
#include "durability/loss_chain.hpp"
#include "durability/mission_simulation.hpp"
#include "durability/rare_losses.hpp"

namespace calpe::durability {
namespace {

// A fixed seed, because one seed in twenty misses a 95 % interval.
constexpr std::uint64_t seed = 1;

Inputs inputs_of(double failures_per_year, double repair_hours) {
  Inputs in;
  in.life = *life_from_rate(failures_per_year);
  in.repair_hours = repair_hours;
  in.read_errors_per_bit = 0;
  return in;
}

struct Setting {
  unsigned data;
  unsigned parity;
  double failures_per_year;
  double repair_hours;
  bool is_serial;
  double years;
};

// 200,000 missions each; between one in two and one in seventy is lost.
TEST(MissionSimulation, MeetsTheChain) {
  const Setting settings[] = {
      {8, 2, 2, 168, false, 1}, {4, 1, 0.3, 100, false, 5}, {6, 3, 1, 168, true, 1}};
  for (const Setting& s : settings) {
    Inputs in = inputs_of(s.failures_per_year, s.repair_hours);
    in.is_repair_serial = s.is_serial;
    in.mission_years = s.years;
    const Scheme scheme = mds_scheme(s.data, s.parity);
    const double chain =
        loss_probability(make_chain(scheme, in), in.mission_years * hours_per_year);
    const MissionResult result = simulate_missions(scheme, in, {.missions = 200'000, .seed = seed});
    EXPECT_GT(chain, 0.01);
    EXPECT_LT(chain, 0.9);
    EXPECT_LT(result.low, chain) << scheme.name;
    EXPECT_GT(result.high, chain) << scheme.name;
    EXPECT_LT(result.high - result.low, 0.005);
    EXPECT_EQ(result.losses(), result.device);
  }
}

TEST(MissionSimulation, MeetsTheWholeEstimate) {
  // Read errors that lose several stripes at once, and shocks.
  Inputs in = inputs_of(0.2, 100);
  in.read_errors_per_bit = 1e-15;
  in.shocks_per_year = 0.1;
  in.shock_hit = 0.1;
  in.mission_years = 2;
  const Scheme scheme = mds_scheme(6, 1);
  const Estimate e = estimate(scheme, in);
  const MissionResult result = simulate_missions(scheme, in, {.missions = 100'000, .seed = seed});
  // The estimate ignores devices that are down during a shock, which is a few percent here.
  EXPECT_NEAR(result.probability / e.mission.any_clustered, 1, 0.04);
  // The first event is of each kind in proportion to its rate.
  EXPECT_NEAR(double(result.correlated) / double(result.read_error) /
                  (e.correlated_losses / e.read_error_losses),
              1, 0.1);
  EXPECT_GT(result.read_error, result.device);
}

TEST(MissionSimulation, BatchesMeetTheChain) {
  Inputs in = inputs_of(0.2, 100);
  in.batch_factor = 8;
  in.mission_years = 2;
  const Scheme scheme = mds_scheme(6, 2);
  const double chain = loss_probability(make_chain(scheme, in), 2 * hours_per_year);
  const MissionResult result = simulate_missions(scheme, in, {.missions = 100'000, .seed = seed});
  EXPECT_LT(result.low, chain);
  EXPECT_GT(result.high, chain);
}

TEST(MissionSimulation, RepairsOfFixedLengthAndWeibullChangeLittle) {
  Inputs in = inputs_of(0.5, 168);
  const Scheme scheme = mds_scheme(8, 2);
  const double chain = loss_probability(make_chain(scheme, in), 5 * hours_per_year);
  const MissionResult fixed =
      simulate_missions(scheme, in, {.missions = 50'000, .seed = seed, .is_repair_fixed = true});
  EXPECT_NEAR(fixed.probability / chain, 1, 0.08);
  // The same number of failures over the mission, fewer of them early.
  in.life = *life_from_weibull(1.12, 2 * hours_per_year);
  const double weibull_chain = loss_probability(make_chain(scheme, in), 5 * hours_per_year);
  const MissionResult weibull = simulate_missions(scheme, in, {.missions = 50'000, .seed = seed});
  EXPECT_NEAR(weibull.probability / weibull_chain, 1, 0.15);
}

TEST(MissionSimulation, TheSeedDecides) {
  const Inputs in = inputs_of(1, 168);
  const auto run = [&](std::uint64_t number) {
    return simulate_missions(mds_scheme(4, 1), in, {.missions = 2000, .seed = number}).losses();
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(RareLosses, ReachOneInTenToTheSixteen) {
  const LossChain chain = make_chain(mds_scheme(10, 4), inputs_of(0.015, 24));
  const Sampled sampled = sample_rare_losses(chain, 2'000'000, seed);
  EXPECT_NEAR(sampled.losses_per_year / 4.28e-16, 1, 0.02);
  EXPECT_LT(sampled.low, 4.26811e-16);
  EXPECT_GT(sampled.high, 4.26811e-16);
  EXPECT_LT((sampled.high - sampled.low) / sampled.losses_per_year, 0.02);
}

TEST(RareLosses, MeetTheChainEverywhere) {
  struct Case {
    unsigned data, parity;
    double failures, hours;
  };
  // Also for frequent losses, without parity, and far below the square of the smallest double.
  for (const Case& c : {Case{4, 1, 2, 200}, Case{8, 2, 0.01, 24}, Case{5, 0, 0.1, 1},
                        Case{17, 3, 0.00405, 156}, Case{20, 16, 0.01, 1}}) {
    const Scheme scheme = mds_scheme(c.data, c.parity);
    const LossChain chain = make_chain(scheme, inputs_of(c.failures, c.hours));
    const double expected = std::exp(solve(chain).log_loss_rate) * hours_per_year;
    const Sampled sampled = sample_rare_losses(chain, 400'000, seed);
    const double slack = 0.5 * (sampled.high - sampled.low) + 1e-9 * expected;  // 4 deviations
    EXPECT_GT(expected, sampled.low - slack) << scheme.name;
    EXPECT_LT(expected, sampled.high + slack) << scheme.name;
    EXPECT_LT(sampled.high, 1.3 * sampled.low) << scheme.name;
  }
}

TEST(RareLosses, PartlyFatalStatesAndPools) {
  Scheme lrc = mds_scheme(12, 4);
  lrc.dead = {0, 0, 0, 0, 0.14};
  Inputs in = inputs_of(0.02, 24);
  const LossChain chain = make_chain(lrc, in);
  const Sampled sampled = sample_rare_losses(chain, 400'000, seed);
  const double expected = std::exp(solve(chain).log_loss_rate) * hours_per_year;
  EXPECT_NEAR(sampled.losses_per_year / expected, 1, 0.03);
  in.pool_devices = 200;
  const LossChain pool = make_chain(mds_scheme(8, 2), in);
  const double of_pool = std::exp(solve(pool).log_loss_rate) * hours_per_year;
  EXPECT_NEAR(sample_rare_losses(pool, 400'000, seed).losses_per_year / of_pool, 1, 0.03);
}

TEST(RareLosses, NothingFailsNothingIsSampled) {
  const LossChain chain = make_chain(mds_scheme(10, 4), inputs_of(0, 24));
  EXPECT_EQ(sample_rare_losses(chain, 1000, seed).high, 0);
}

}  // namespace
}  // namespace calpe::durability
