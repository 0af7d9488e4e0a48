// SPDX-License-Identifier: Apache-2.0
#include "calpe/durability/durability_plots.hpp"

#include "base/text.hpp"
#include "calpe/charts/chart_files.hpp"

namespace calpe::tools {

namespace {

constexpr double believable = 1e-11;
constexpr unsigned markers = 4;

void add_limits(Chart& chart, const std::string& conditions) {
  chart.y = {.label = "probability of a loss within a year", .is_log = true};
  chart.references.push_back({believable, "11 nines; below, the device model only"});
  chart.notes.push_back(text("Conditions: ", conditions, "."));
  chart.notes.emplace_back(
      "Operators, firmware and fire are not in the model: no real system is safer than 11 nines "
      "because a formula says so.");
}

}  // namespace

Chart loss_chart(const LossPlot& plot) {
  Chart chart;
  chart.title = "What safety costs";
  chart.subtitle = "Each code by what it stores and how likely it loses data; low and left is good";
  chart.x = {.label = "bytes stored per usable byte"};
  unsigned number = 0;
  for (const PlottedCode& code : plot.codes) {
    ++number;
    chart.series.push_back({code.name,
                            {{code.overhead, code.loss_per_year}},
                            LineStyle::points,
                            number,
                            (number - 1) % markers});
  }
  add_limits(chart, plot.conditions);
  return chart;
}

Chart rebuild_chart(const RebuildPlot& plot) {
  Chart chart;
  chart.title = "What a faster rebuild is worth";
  chart.subtitle = "Points: where the bandwidths that were given put each code";
  chart.x = {.label = "hours until a lost device is rebuilt", .is_log = true};
  unsigned number = 0;
  for (const RebuildCurve& curve : plot.curves) {
    ++number;
    chart.series.push_back({curve.name, curve.points, LineStyle::line, number});
    chart.series.push_back({"", {{curve.hours, curve.loss}}, LineStyle::points, number});
  }
  add_limits(chart, plot.conditions);
  return chart;
}

Result<std::vector<std::string>> write_plots(const std::string& folder, const LossPlot& loss,
                                             const RebuildPlot& rebuild) {
  return write_charts(folder,
                      {{"loss.svg", loss_chart(loss)}, {"rebuild.svg", rebuild_chart(rebuild)}});
}

}  // namespace calpe::tools
