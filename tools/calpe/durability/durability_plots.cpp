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
  chart.references.push_back({believable, "11 nines; below this line, device model only"});
  chart.notes.push_back(text("Conditions: ", conditions, "."));
  chart.notes.emplace_back(
      "Operator errors, firmware bugs and fire are not modelled: beyond 11 nines the model says "
      "nothing about a real system.");
}

}  // namespace

Chart loss_chart(const LossPlot& plot) {
  Chart chart;
  chart.title = "Probability of loss and overhead";
  chart.subtitle = "One point per code; lower left is better";
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
  chart.title = "Probability of loss and rebuild time";
  chart.subtitle = "Points: rebuild time with the given bandwidths";
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
