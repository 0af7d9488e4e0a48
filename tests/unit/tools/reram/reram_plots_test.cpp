// SPDX-License-Identifier: Apache-2.0
#include "calpe/reram/reram_plots.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

#include "support/svg_reader.hpp"
#include "support/workshop.hpp"

namespace calpe::tools {
namespace {

constexpr std::array<unsigned, 5> parities = {2, 4, 6, 8, 16};

// Plausible numbers; nothing is measured here.
ThroughputPlot throughput() {
  ThroughputPlot plot = {.preset = "reraid-fit", .origin = "calibrated, not measured"};
  plot.paper_baseline = "Jerasure, packets of 8 bytes";
  plot.calpe_baseline = "cpu <avx2> & one thread";
  plot.jerasure_baseline = "cauchy_good";
  for (const unsigned m : parities) {
    ParityRates simulated = {m};
    ParityRates cpu = {m};
    ParityRates calpe = {m};
    for (const double k : {10.0, 20.0, 30.0, 40.0}) {
      simulated.rates.push_back({k, 32'000 * k / (36.3 + 2.877 * k)});
      cpu.rates.push_back({k, 1 / (1.0 / 342 + m / 2126.0)});
      calpe.rates.push_back({k, 20'000.0 / m});
    }
    plot.simulated.push_back(simulated);
    plot.paper_cpu.push_back(cpu);
    plot.calpe.push_back(calpe);
  }
  return plot;
}

ErrorPlot errors() {
  ErrorPlot plot = {.preset = "nvsim-32nm", .conditions = "seed 1", .target = 1e-6};
  for (const double variation : {0.05, 0.1}) {
    ErrorCurve curve = {.variation = variation};
    for (double rows = 1; rows <= 512; rows *= 2) {
      const double rate = std::erfc(0.5 / (variation * std::sqrt(2 * rows)));
      curve.closed_form.push_back({rows, rate});
      if (rate > 1e-4) curve.measured.push_back({rows, rate * 1.01});
    }
    plot.curves.push_back(curve);
  }
  return plot;
}

WearPlot wear() {
  WearPlot plot = {.preset = "reraid-fit", .conditions = "10+4"};
  for (double gib = 1; gib < 1e7; gib *= 10) {
    plot.normal.push_back({gib, 1});
    plot.combination_digital.push_back({gib, 1});
    plot.xor_mode.push_back({gib, 5e4 * gib});
    plot.combination_rewrite.push_back({gib, 4e5 * gib});
  }
  return plot;
}

std::size_t count_named(const Chart& chart, const std::string& part) {
  std::size_t count = 0;
  for (const ChartSeries& series : chart.series)
    count += series.name.find(part) == std::string::npos ? 0 : 1;
  return count;
}

bool has_note(const Chart& chart, const std::string& part) {
  for (const std::string& note : chart.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

TEST(ReramPlots, lines_that_coincide_are_drawn_once) {
  ThroughputPlot plot = throughput();
  EXPECT_EQ(count_named(throughput_chart(plot), "Re-RAID simulated, any m"), 1U);
  EXPECT_EQ(count_named(throughput_chart(plot), "Re-RAID"), 1U);
  // A line that differs is not hidden.
  plot.simulated[2].rates[1].y *= 1.05;
  EXPECT_EQ(count_named(throughput_chart(plot), "any m"), 0U);
  EXPECT_EQ(count_named(throughput_chart(plot), "Re-RAID simulated, m = "), parities.size());
  // With a single m there is nothing to compare.
  plot.simulated.resize(1);
  EXPECT_EQ(count_named(throughput_chart(plot), "Re-RAID simulated, m = 2"), 1U);
}

TEST(ReramPlots, a_number_of_parity_shards_has_one_colour) {
  ThroughputPlot plot = throughput();
  plot.calpe.erase(plot.calpe.begin());  // m = 2 was not measured
  plot.jerasure = plot.jerasure_8 = plot.paper_cpu;
  const Chart chart = throughput_chart(plot);
  EXPECT_EQ(count_named(chart, "Jerasure here, 8 B, m ="), parities.size());
  EXPECT_EQ(count_named(chart, "Jerasure here, m ="), parities.size());
  EXPECT_EQ(count_named(chart, "Calpe here, m ="), parities.size() - 1);
  for (const ChartSeries& series : chart.series) {
    const std::size_t at = series.name.find("m = ");
    if (at == std::string::npos) continue;
    const unsigned m = static_cast<unsigned>(std::stoul(series.name.substr(at + 4)));
    const auto place = std::find(parities.begin(), parities.end(), m) - parities.begin();
    EXPECT_EQ(series.group, static_cast<unsigned>(place) + 1) << series.name;
  }
}

TEST(ReramPlots, baselines_and_calibration_are_named_below) {
  ThroughputPlot plot = throughput();
  plot.notes = {"the honest conclusion"};
  const Chart chart = throughput_chart(plot);
  for (const std::string part : {"preset reraid-fit; calibrated, not measured.", "8 bytes",
                                 "cpu <avx2>", "the honest conclusion"})
    EXPECT_TRUE(has_note(chart, part)) << part;
  EXPECT_FALSE(has_note(chart, "cauchy_good"));  // no Jerasure was drawn
  EXPECT_TRUE(chart.y.is_log);
  EXPECT_NE(chart.y.label.find("MB/s"), std::string::npos);
  EXPECT_EQ(chart.x.ticks, (std::vector<double>{10, 20, 30, 40}));
}

TEST(ReramPlots, error_rates_show_what_can_be_counted_and_the_target) {
  const Chart chart = error_chart(errors());
  ASSERT_EQ(chart.series.size(), 4U);
  EXPECT_EQ(chart.series[0].name, "5 % variation of the cells");
  EXPECT_EQ(chart.series[1].style, LineStyle::points);
  EXPECT_EQ(chart.series[0].group, chart.series[1].group);
  EXPECT_NE(chart.series[0].group, chart.series[2].group);
  ASSERT_TRUE(chart.y.range.has_value());
  EXPECT_LT(chart.y.range->low, 1e-6);
  EXPECT_GT(chart.y.range->low, 1e-9);  // without the 1e-23 of the closed form at one row
  ASSERT_EQ(chart.references.size(), 1U);
  const tests::SvgReader svg(to_svg(chart));
  const std::size_t measured =
      errors().curves[0].measured.size() + errors().curves[1].measured.size();
  EXPECT_EQ(svg.all("circle", "mark").size(), measured);
}

TEST(ReramPlots, wear_is_compared_with_endurance) {
  WearPlot plot = wear();
  const Chart usual = wear_chart(plot);
  ASSERT_EQ(usual.references.size(), 3U);
  EXPECT_EQ(usual.references[1].label, "10⁹ writes: the endurance of the preset");
  EXPECT_EQ(tests::SvgReader(to_svg(usual)).all("text", "reference").size(), 3U);
  plot.endurance = 1e8;
  const Chart other = wear_chart(plot);
  ASSERT_EQ(other.references.size(), 4U);
  EXPECT_EQ(other.references[3].y, 1e8);
  for (const std::string name : {"normal", "XOR", "combination, rewriting", "combination, digital"})
    EXPECT_EQ(count_named(usual, name), 1U) << name;
}

// tests/integration/charts_test.py sets the directory, to inspect the output.
TEST(ReramPlots, creates_a_missing_directory) {
  const tests::Workshop workshop;
  const char* asked = std::getenv("CALPE_TEST_CHARTS");
  const std::string folder = asked != nullptr ? asked : workshop.path("new/folder");
  const auto written = write_plots(folder, {throughput(), errors(), wear()});
  ASSERT_TRUE(written) << written.error().message;
  ASSERT_EQ(written->size(), 3U);
  const std::vector<std::string> names = {"throughput.svg", "errors.svg", "wear.svg"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ((*written)[i], (std::filesystem::path(folder) / names[i]).string());
    std::ifstream file((*written)[i]);
    const std::string content((std::istreambuf_iterator<char>(file)), {});
    EXPECT_GT(tests::SvgReader(content).all().size(), 50U) << names[i];
  }
  EXPECT_TRUE(write_plots(folder, {throughput(), errors(), wear()}));  // overwrites the old ones
}

TEST(ReramPlots, failures_name_path_and_reason) {
  const tests::Workshop workshop;
  const std::string file = workshop.write("file", "");
  const auto no_folder = write_plots(file + "/below", {});
  ASSERT_FALSE(no_folder);
  EXPECT_EQ(no_folder.error().code, ErrorCode::io);
  EXPECT_NE(
      no_folder.error().message.find(file + "/below: cannot create the directory: Not a directory"),
      std::string::npos)
      << no_folder.error().message;
  // A directory has the name of an output file.
  std::filesystem::create_directories(workshop.path("errors.svg"));
  const auto no_file = write_plots(workshop.path("."), {});
  ASSERT_FALSE(no_file);
  EXPECT_EQ(no_file.error().code, ErrorCode::io);
  EXPECT_NE(no_file.error().message.find("errors.svg: Is a directory"), std::string::npos)
      << no_file.error().message;
}

}  // namespace
}  // namespace calpe::tools
