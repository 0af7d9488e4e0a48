// SPDX-License-Identifier: Apache-2.0
#include "calpe/charts/axis_scale.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace calpe::tools {
namespace {

std::vector<std::string> labels(const AxisTicks& ticks) {
  std::vector<std::string> out;
  for (const AxisTick& tick : ticks.major)
    out.push_back(tick.label);
  return out;
}

using Labels = std::vector<std::string>;

TEST(AxisScale, linear_ticks_are_1_2_or_5_apart) {
  EXPECT_EQ(labels(ticks_in({0, 7}, false)), (Labels{"0", "1", "2", "3", "4", "5", "6", "7"}));
  EXPECT_EQ(labels(ticks_in({0, 0.5}, false)), (Labels{"0", "0.1", "0.2", "0.3", "0.4", "0.5"}));
  EXPECT_EQ(labels(ticks_in({-20, 15}, false)),
            (Labels{"-20", "-15", "-10", "-5", "0", "5", "10", "15"}));
  EXPECT_EQ(labels(ticks_in({9.1, 40.9}, false)),
            (Labels{"10", "15", "20", "25", "30", "35", "40"}));
}

TEST(AxisScale, decades_when_there_are_many) {
  const AxisTicks ticks = ticks_in({1e-3, 1e4}, true);
  EXPECT_EQ(labels(ticks), (Labels{"10⁻³", "10⁻²", "10⁻¹", "1", "10", "10²", "10³", "10⁴"}));
  EXPECT_EQ(ticks.minor.size(), 7U * 8);  // 2 to 9 of each decade
}

TEST(AxisScale, intermediate_numbers_when_there_are_few_decades) {
  const AxisTicks ticks = ticks_in({50, 1e4}, true);
  EXPECT_EQ(labels(ticks),
            (Labels{"50", "100", "200", "500", "1000", "2000", "5000", "10\u2009000"}));
}

TEST(AxisScale, a_few_labels_on_any_logarithmic_axis) {
  for (int decades = 1; decades <= 600; ++decades) {
    const double high = std::pow(10.0, decades - 300);
    const AxisTicks ticks = ticks_in({1e-300, high}, true);
    EXPECT_GE(ticks.major.size(), 2U) << decades;
    EXPECT_LE(ticks.major.size(), 11U) << decades;
  }
}

TEST(AxisScale, ranges_end_at_nice_numbers_and_hold_the_data) {
  const std::vector<double> rates = {95.7, 258.7, 8400};
  EXPECT_EQ(range_of(rates, true, RangeEnds::rounded), (ChartRange{50, 10'000}));
  EXPECT_EQ(range_of(rates, false, RangeEnds::rounded), (ChartRange{0, 10'000}));
  const std::vector<double> from_zero = {40, 100};
  EXPECT_EQ(range_of(from_zero, false, RangeEnds::rounded), (ChartRange{0, 100}));
  const std::vector<double> flat = {98, 103};
  const ChartRange narrow = range_of(flat, false, RangeEnds::rounded);
  EXPECT_EQ(narrow, (ChartRange{98, 103}));
  const ChartRange padded = range_of(rates, true, RangeEnds::padded);
  EXPECT_LT(padded.low, 95.7);
  EXPECT_GT(padded.high, 8400);
}

TEST(AxisScale, data_at_a_power_of_ten_is_not_on_the_axis) {
  const std::vector<double> writes = {1, 1e12};
  const ChartRange range = range_of(writes, true, RangeEnds::rounded);
  EXPECT_LT(range.low, 1);
  EXPECT_GE(range.high, 1e12);
}

TEST(AxisScale, one_value_none_or_extremes_have_a_range) {
  for (const bool is_log : {false, true}) {
    for (const RangeEnds ends : {RangeEnds::padded, RangeEnds::rounded}) {
      for (const std::vector<double>& values : {std::vector<double>{},
                                                {3},
                                                {0},
                                                {1e17, 1e17 + 16},
                                                {10},
                                                {1e-290, 1e290},
                                                {-1e290, 1e290},
                                                {std::numeric_limits<double>::quiet_NaN()}}) {
        const ChartRange range = range_of(values, is_log, ends);
        EXPECT_LT(range.low, range.high);
        EXPECT_TRUE(std::isfinite(range.high - range.low));
        EXPECT_TRUE(range.low > 0 || !is_log);
        EXPECT_GE(ticks_in(range, is_log).major.size(), 1U);
        EXPECT_LE(ticks_in(range, is_log).major.size(), 11U);
        for (const double value : values) {
          if (!is_drawable(value, is_log)) continue;
          EXPECT_LE(range.low, value);
          EXPECT_GE(range.high, value);
        }
      }
    }
  }
}

TEST(AxisScale, undrawable_values_are_ignored) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(is_drawable(0, true));
  EXPECT_FALSE(is_drawable(-1, true));
  EXPECT_TRUE(is_drawable(-1, false));
  EXPECT_FALSE(is_drawable(inf, false));
  EXPECT_FALSE(is_drawable(std::numeric_limits<double>::quiet_NaN(), false));
  EXPECT_FALSE(is_drawable(std::numeric_limits<double>::denorm_min(), true));
  const std::vector<double> values = {-5, 0, 20, 100, inf};
  EXPECT_EQ(range_of(values, true, RangeEnds::rounded), (ChartRange{20, 100}));
}

TEST(AxisScale, decades_are_equally_far_apart) {
  const AxisScale scale({1, 1000}, true, 400, 100);
  EXPECT_DOUBLE_EQ(scale.pixel(1), 400);
  EXPECT_DOUBLE_EQ(scale.pixel(10), 300);
  EXPECT_DOUBLE_EQ(scale.pixel(100), 200);
  EXPECT_DOUBLE_EQ(scale.pixel(1000), 100);
  const AxisScale linear({0, 10}, false, 0, 50);
  EXPECT_DOUBLE_EQ(linear.pixel(4), 20);
}

TEST(AxisScale, numbers_as_people_write_them) {
  EXPECT_EQ(decimal(12.50, 2), "12.5");
  EXPECT_EQ(decimal(-0.001, 2), "0");
  EXPECT_EQ(decimal(100, 2), "100");
  EXPECT_EQ(number_label(0), "0");
  EXPECT_EQ(number_label(9999), "9999");
  EXPECT_EQ(number_label(250'000), "250\u2009000");
  EXPECT_EQ(number_label(-12'345), "-12\u2009345");
  EXPECT_EQ(number_label(1e6), "10⁶");
  EXPECT_EQ(number_label(2.5e-7), "2.5·10⁻⁷");
  EXPECT_EQ(number_label(-1e12), "-10¹²");
  EXPECT_EQ(number_label(0.001), "0.001");
}

TEST(AxisScale, ticks_at_requested_values) {
  const std::vector<double> counts = {5, 10, 20, 99};
  EXPECT_EQ(labels(ticks_at(counts, {9, 41})), (Labels{"10", "20"}));
}

}  // namespace
}  // namespace calpe::tools
