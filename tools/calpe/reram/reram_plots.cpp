// SPDX-License-Identifier: Apache-2.0
#include "calpe/reram/reram_plots.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "calpe/charts/chart_files.hpp"

namespace calpe::tools {

namespace {

// One colour per number of parity shards, the same in every family; 0 stands for all.
class ParityColours {
 public:
  explicit ParityColours(const ThroughputPlot& plot) {
    for (const auto* family :
         {&plot.simulated, &plot.paper_cpu, &plot.calpe, &plot.jerasure_8, &plot.jerasure}) {
      for (const ParityRates& rates : *family)
        parities_.insert(rates.parity);
    }
  }
  unsigned group(unsigned parity) const {
    return 1 + static_cast<unsigned>(std::distance(parities_.begin(), parities_.find(parity)));
  }

 private:
  std::set<unsigned> parities_;
};

// True if all curves agree within 1 % at common points.
bool coincide(const std::vector<ParityRates>& family) {
  for (const ParityRates& rates : family) {
    for (const ChartPoint& point : rates.rates) {
      for (const ChartPoint& other : family.front().rates)
        if (point.x == other.x && std::abs(point.y - other.y) > 0.01 * other.y) return false;
    }
  }
  return family.size() > 1;
}

struct Family {
  std::string name;
  LineStyle style = LineStyle::line;
  unsigned marker = 0;
};

void add_family(Chart& chart, const std::vector<ParityRates>& all, const Family& family,
                const ParityColours& colours) {
  for (const ParityRates& rates : all) {
    chart.series.push_back({text(family.name, ", m = ", rates.parity), rates.rates, family.style,
                            colours.group(rates.parity), family.marker});
  }
}

void add_note(Chart& chart, std::string_view what, const std::string& note) {
  if (!note.empty()) chart.notes.push_back(text(what, note, note.ends_with('.') ? "" : "."));
}

void add_notes(Chart& chart, const std::vector<std::string>& notes) {
  chart.notes.insert(chart.notes.end(), notes.begin(), notes.end());
}

}  // namespace

Chart throughput_chart(const ThroughputPlot& plot) {
  const ParityColours colours(plot);
  Chart chart;
  chart.title = "Encoding rate over the number of data shards";
  chart.subtitle = "Simulated ReRAM and CPUs; m is the number of parity shards";
  chart.x = {.label = "data shards, k"};
  chart.y = {.label = "data encoded, MB/s", .is_log = true};
  if (coincide(plot.simulated)) {
    // Draw the longest; the others coincide with it.
    const auto longest = std::max_element(
        plot.simulated.begin(), plot.simulated.end(),
        [](const ParityRates& a, const ParityRates& b) { return a.rates.size() < b.rates.size(); });
    chart.series.push_back({"Re-RAID simulated, any m", longest->rates});
  } else {
    add_family(chart, plot.simulated, {"Re-RAID simulated"}, colours);
  }
  add_family(chart, plot.calpe, {"Calpe here", LineStyle::line_points}, colours);
  add_family(chart, plot.jerasure, {"Jerasure here", LineStyle::line_points, 1}, colours);
  add_family(chart, plot.jerasure_8, {"Jerasure here, 8 B", LineStyle::line_points, 2}, colours);
  add_family(chart, plot.paper_cpu, {"paper's CPU", LineStyle::dashed}, colours);
  std::set<double> counts;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points)
      counts.insert(point.x);
  }
  if (counts.size() <= 12) chart.x.ticks.assign(counts.begin(), counts.end());
  add_note(chart, "Re-RAID simulated: ", text("preset ", plot.preset, "; ", plot.origin));
  if (!plot.calpe.empty()) add_note(chart, "Calpe here: ", plot.calpe_baseline);
  if (!plot.jerasure.empty() || !plot.jerasure_8.empty())
    add_note(chart, "Jerasure here: ", plot.jerasure_baseline);
  if (!plot.paper_cpu.empty()) add_note(chart, "The paper's CPU: ", plot.paper_baseline);
  add_notes(chart, plot.notes);
  return chart;
}

Chart error_chart(const ErrorPlot& plot) {
  Chart chart;
  chart.title = "Wrong bits over the number of active rows";
  chart.subtitle = "Lines: closed form. Points: counted in simulated crossbars.";
  chart.x = {.label = "active rows of a crossbar", .is_log = true};
  chart.y = {.label = "bit error rate", .is_log = true};
  // Closed forms go down to 1e-300. Cut them off, or the counted points would be squeezed together.
  double lowest = plot.target > 0 ? plot.target : 1e-6;
  unsigned group = 0;
  for (const ErrorCurve& curve : plot.curves) {
    ++group;
    const std::string name = text(decimal(100 * curve.variation, 2), " % variation of the cells");
    chart.series.push_back({name, curve.closed_form, LineStyle::line, group});
    chart.series.push_back({"", curve.measured, LineStyle::points, group});
    for (const ChartPoint& point : curve.measured)
      if (is_drawable(point.y, true)) lowest = std::min(lowest, point.y);
  }
  chart.y.range = ChartRange{std::pow(10.0, std::floor(std::log10(lowest) - 1)), 1};
  if (plot.target > 0) {
    const std::string target = number_label(plot.target);
    chart.references.push_back({plot.target, text("target: ", target, " wrong bits per bit")});
  }
  add_note(chart, "",
           text("Preset ", plot.preset, plot.conditions.empty() ? "" : "; ", plot.conditions));
  chart.notes.emplace_back("At a rate of 0.5 a bit carries no information.");
  add_notes(chart, plot.notes);
  return chart;
}

Chart wear_chart(const WearPlot& plot) {
  Chart chart;
  chart.title = "Wear: writes of the most written row";
  chart.subtitle = "A row is worn out where its line reaches the endurance of its cells";
  chart.x = {.label = "data coded, GiB", .is_log = true};
  chart.y = {.label = "writes of the most written row", .is_log = true};
  chart.series = {{"combination, rewriting", plot.combination_rewrite, LineStyle::line, 2},
                  {"XOR mode", plot.xor_mode, LineStyle::line, 1},
                  {"normal mode", plot.normal, LineStyle::line, 4},
                  {"combination, digital", plot.combination_digital, LineStyle::dashed, 3}};
  std::vector<ChartReference> lines = {{1e6, "10⁶ writes: a pessimistic endurance"},
                                       {1e9, "10⁹ writes: a typical endurance"},
                                       {1e12, "10¹² writes: an optimistic endurance"}};
  const std::string assumed =
      text(number_label(plot.endurance), " writes: the endurance of the preset");
  const auto same = std::find_if(lines.begin(), lines.end(), [&](const ChartReference& line) {
    return line.y == plot.endurance;
  });
  if (same != lines.end())
    same->label = assumed;
  else if (is_drawable(plot.endurance, true))
    lines.push_back({plot.endurance, assumed});
  chart.references = std::move(lines);
  add_note(chart, "",
           text("Preset ", plot.preset, plot.conditions.empty() ? "" : "; ", plot.conditions));
  add_notes(chart, plot.notes);
  return chart;
}

Result<std::vector<std::string>> write_plots(const std::string& folder, const ReramPlots& plots) {
  return write_charts(folder, {{"throughput.svg", throughput_chart(plots.throughput)},
                               {"errors.svg", error_chart(plots.errors)},
                               {"wear.svg", wear_chart(plots.wear)}});
}

}  // namespace calpe::tools
