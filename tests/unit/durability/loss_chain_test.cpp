// SPDX-License-Identifier: Apache-2.0
#include "durability/loss_chain.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

namespace calpe::durability {
namespace {

Inputs inputs_of(double failures_per_year, double repair_hours) {
  Inputs in;
  in.life = *life_from_rate(failures_per_year);
  in.repair_hours = repair_hours;
  return in;
}

double losses_per_year(const Scheme& scheme, const Inputs& in) {
  return std::exp(solve(make_chain(scheme, in)).log_loss_rate) * hours_per_year;
}

// The leading term: n C(n-1, m) rate^(m+1) T^m, times m! if rebuilds wait for each other.
double leading_term(const Scheme& scheme, double failures_per_year, double repair_hours,
                    bool is_serial) {
  const double rate = failures_per_year / hours_per_year;
  double value = scheme.shards() * rate * hours_per_year;
  for (unsigned i = 1; i <= scheme.parity_shards; ++i)
    value *= (scheme.shards() - i) * rate * repair_hours / (is_serial ? 1 : i);
  return value;
}

TEST(LossChain, TwoStatesByHand) {
  Inputs in = inputs_of(0.01 * hours_per_year, 1);  // 0.01 failures and 1 rebuild per hour
  const double mttdl = (3 * 0.01 + 1) / (2 * 0.01 * 0.01);
  EXPECT_NEAR(std::exp(-solve(make_chain(mds_scheme(1, 1), in)).log_loss_rate) / mttdl, 1, 1e-12);
}

TEST(LossChain, PublishedFigures) {
  EXPECT_NEAR(losses_per_year(mds_scheme(17, 3), inputs_of(0.00405, 156)) / 2.93319e-11, 1, 1e-4);
  EXPECT_NEAR(losses_per_year(mds_scheme(10, 4), inputs_of(0.015, 24)) / 4.26811e-16, 1, 1e-4);
  Inputs raid6 = inputs_of(hours_per_year / 1.2e6, 24);
  EXPECT_NEAR(1 / losses_per_year(mds_scheme(14, 2), raid6) / 2.038e8, 1, 1e-3);
  raid6.is_repair_serial = true;
  EXPECT_NEAR(1 / losses_per_year(mds_scheme(14, 2), raid6) / 1.019e8, 1, 1e-3);
}

TEST(LossChain, LeadingTermOverManyDecades) {
  for (const unsigned parity : {0U, 1U, 3U, 10U, 60U, 128U}) {
    for (const bool is_serial : {false, true}) {
      const Scheme scheme = mds_scheme(128, parity);
      Inputs in = inputs_of(1e-6, 1e-3);
      in.is_repair_serial = is_serial;
      double log_term = std::log(leading_term(mds_scheme(128, 0), 1e-6, 1e-3, is_serial)) +
                        std::log(double(scheme.shards()) / 128);
      for (unsigned i = 1; i <= parity; ++i)
        log_term +=
            std::log((scheme.shards() - i) * 1e-6 / hours_per_year * 1e-3 / (is_serial ? 1 : i));
      const double log_rate = solve(make_chain(scheme, in)).log_loss_rate;
      // Down to 1e-1585, below the range of double.
      EXPECT_NEAR(log_rate + std::log(hours_per_year), log_term, 1e-6 + 1e-12 * parity) << parity;
    }
  }
}

TEST(LossChain, NoFailuresNoLoss) {
  const LossChain chain = make_chain(mds_scheme(10, 4), inputs_of(0, 24));
  EXPECT_TRUE(std::isinf(solve(chain).log_loss_rate));
  EXPECT_EQ(loss_probability(chain, 1e6), 0);
}

TEST(LossChain, WithoutParityEveryFailureIsALoss) {
  const LossChain chain = make_chain(mds_scheme(10, 0), inputs_of(0.5, 24));
  EXPECT_NEAR(std::exp(solve(chain).log_loss_rate) * hours_per_year, 5, 1e-12);
  EXPECT_NEAR(loss_probability(chain, hours_per_year / 10), -std::expm1(-0.5), 1e-12);
}

TEST(LossChain, TransientOfTwoStatesByHand) {
  // 1+1: eigenvalues of the 2 x 2 matrix.
  const double f = 0.01;
  const double r = 1;
  const LossChain chain = make_chain(mds_scheme(1, 1), inputs_of(f * hours_per_year, 1 / r));
  const double root = std::sqrt((3 * f + r) * (3 * f + r) - 8 * f * f);
  const double a = (-(3 * f + r) + root) / 2;
  const double b = (-(3 * f + r) - root) / 2;
  for (const double hours : {0.1, 10.0, 5000.0}) {
    const double alive = (a * std::exp(b * hours) - b * std::exp(a * hours)) / (a - b);
    EXPECT_NEAR(loss_probability(chain, hours), 1 - alive, 1e-10) << hours;
  }
}

TEST(LossChain, TransientMeetsTheRateWhenLossesAreRare) {
  const LossChain chain = make_chain(mds_scheme(10, 4), inputs_of(0.015, 24));
  const double rate = std::exp(solve(chain).log_loss_rate);
  // A new group is safer only for the first days.
  EXPECT_NEAR(loss_probability(chain, 50 * hours_per_year) / (rate * 50 * hours_per_year), 1, 1e-3);
  EXPECT_LT(loss_probability(chain, 24), rate * 24 / 2);
}

TEST(LossChain, TooFastToStepThrough) {
  // Rebuilds that take a second: the formula replaces the steps and agrees with them.
  const Scheme scheme = mds_scheme(4, 1);
  const double steps = loss_probability(make_chain(scheme, inputs_of(1, 0.01)), hours_per_year);
  const double formula = loss_probability(make_chain(scheme, inputs_of(1, 0.005)), hours_per_year);
  EXPECT_NEAR(steps / formula, 2, 1e-4);
}

TEST(LossChain, BatchFactorCountsWhileSomethingIsDown) {
  Inputs in = inputs_of(0.001, 24);
  const double before = losses_per_year(mds_scheme(8, 2), in);
  in.batch_factor = 10;
  EXPECT_NEAR(losses_per_year(mds_scheme(8, 2), in) / before, 100, 0.1);
}

TEST(LossChain, PatternsOfAnLrcDecide) {
  // Half of the triples cannot be rebuilt, and nothing beyond.
  Scheme scheme = mds_scheme(4, 3);
  scheme.dead = {0, 0, 0, 0.5};
  const double all = losses_per_year(mds_scheme(5, 2), inputs_of(0.01, 24));
  EXPECT_NEAR(losses_per_year(scheme, inputs_of(0.01, 24)) / all, 0.5, 1e-3);
  EXPECT_EQ(scheme.sure_losses(), 2U);
}

TEST(LossChain, APoolAsWideAsTheCodeIsAGroup) {
  Inputs in = inputs_of(0.1, 24);
  const double group = losses_per_year(mds_scheme(4, 2), in);
  in.pool_devices = 6;
  in.is_repair_serial = true;
  Inputs serial = inputs_of(0.1, 24);
  serial.is_repair_serial = true;
  EXPECT_NEAR(losses_per_year(mds_scheme(4, 2), in) / losses_per_year(mds_scheme(4, 2), serial), 1,
              1e-9);
  EXPECT_LT(group, losses_per_year(mds_scheme(4, 2), in));
}

TEST(LossChain, APoolLosesMoreOftenAndLess) {
  Inputs in = inputs_of(0.01, 24);
  const double groups = 10 * losses_per_year(mds_scheme(8, 2), in);  // 100 devices
  in.pool_devices = 100;
  const LossChain chain = make_chain(mds_scheme(8, 2), in);
  const ChainSolution pool = solve(chain);
  const double losses = std::exp(pool.log_loss_rate) * hours_per_year;
  EXPECT_GT(losses, 50 * groups);
  // Three of 100 devices: C(97, 7) / C(100, 10) of the stripes.
  EXPECT_NEAR(pool.lost_fraction, 10.0 * 9 * 8 / (100.0 * 99 * 98), 1e-4);
  EXPECT_EQ(chain.fatal.back(), 1);
}

TEST(LossChain, AWidePoolMaySurviveMore) {
  Inputs in = inputs_of(0.01, 24);
  in.pool_devices = 20'000;
  in.shard_bytes = 1e9;
  const LossChain chain = make_chain(mds_scheme(10, 4), in);
  EXPECT_EQ(chain.fatal[3], 0);
  EXPECT_GT(chain.fatal[4], 0);
  EXPECT_LT(chain.fatal[4], 1e-6);
  EXPECT_GT(chain.fatal.size(), 20U);
  EXPECT_TRUE(std::isfinite(solve(chain).log_loss_rate));
}

}  // namespace
}  // namespace calpe::durability
