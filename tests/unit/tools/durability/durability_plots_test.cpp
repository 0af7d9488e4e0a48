// SPDX-License-Identifier: Apache-2.0
#include "calpe/durability/durability_plots.hpp"

#include <gtest/gtest.h>

namespace calpe::tools {
namespace {

LossPlot losses() {
  return {"devices of 20 TB", {{"8+2", 1.25, 2e-4}, {"lrc 12+2+2", 4.0 / 3, 1e-7}, {"1+9", 10, 0}}};
}

RebuildPlot rebuilds() {
  RebuildPlot plot = {"devices of 20 TB", {}};
  plot.curves.push_back({"8+2", {{1, 1e-6}, {1000, 1e-2}}, 86.6, 2e-4});
  plot.curves.push_back({"10+4", {{1, 1e-16}, {1000, 1e-6}}, 86.6, 2e-10});
  return plot;
}

TEST(DurabilityPlots, every_code_is_a_named_point) {
  const Chart chart = loss_chart(losses());
  ASSERT_EQ(chart.series.size(), 3U);
  EXPECT_EQ(chart.series[0].name, "8+2");
  EXPECT_EQ(chart.series[1].points, (std::vector<ChartPoint>{{4.0 / 3, 1e-7}}));
  EXPECT_NE(chart.series[0].group, chart.series[1].group);
  EXPECT_TRUE(chart.y.is_log);
  EXPECT_FALSE(chart.x.is_log);
  EXPECT_FALSE(chart.x.label.empty());
  EXPECT_FALSE(chart.y.label.empty());
}

TEST(DurabilityPlots, every_code_is_a_curve_through_its_point) {
  const Chart chart = rebuild_chart(rebuilds());
  ASSERT_EQ(chart.series.size(), 4U);
  for (const std::size_t i : {0U, 2U}) {
    EXPECT_EQ(chart.series[i].group, chart.series[i + 1].group);
    EXPECT_EQ(chart.series[i + 1].points.size(), 1U);
    EXPECT_EQ(chart.series[i + 1].name, "");
  }
  EXPECT_EQ(chart.series[3].points.front(), (ChartPoint{86.6, 2e-10}));
}

TEST(DurabilityPlots, show_limits_and_assumptions) {
  for (const Chart& chart : {loss_chart(losses()), rebuild_chart(rebuilds())}) {
    ASSERT_EQ(chart.references.size(), 1U);
    EXPECT_EQ(chart.references.front().y, 1e-11);
    const std::string svg = to_svg(chart);
    EXPECT_NE(svg.find("devices of 20 TB"), std::string::npos);
    EXPECT_NE(svg.find("11 nines"), std::string::npos);
    EXPECT_NE(svg.find("8+2"), std::string::npos);
  }
}

}  // namespace
}  // namespace calpe::tools
