// SPDX-License-Identifier: Apache-2.0
#include "calpe/report/report_series.hpp"

namespace calpe::tools {

ChartRange spread_of(const Json& row) {
  const double bytes = number_of(row, "bytes") / 1e9;
  const double slow = number_of(row, "seconds_p90");
  const double fast = number_of(row, "seconds_p10");
  return slow > 0 && fast > 0 ? ChartRange{bytes / slow, bytes / fast} : ChartRange{};
}

ChartSeries measured_series(std::string name, const std::vector<const Json*>& rows,
                            const std::string& x_key, const std::string& suffix) {
  ChartSeries series;
  series.name = std::move(name);
  for (const Json* row : rows) {
    const double rate = number_of(*row, "gb_per_s" + suffix + "_median");
    if (rate <= 0) continue;
    series.points.push_back({number_of(*row, x_key), rate});
    if (suffix.empty()) series.spread.push_back(spread_of(*row));
  }
  return series;
}

void add_series(Chart& chart, ChartSeries series, const SeriesLook& look) {
  if (series.points.empty()) return;
  series.style = look.style;
  series.group = look.group;
  series.marker = look.marker;
  chart.series.push_back(std::move(series));
}

void start_at_zero(Chart& chart) {
  std::vector<double> values = {0};
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points)
      values.push_back(point.y);
    for (const ChartRange& spread : series.spread)
      values.push_back(spread.high);
  }
  chart.y.range = range_of(values, false, RangeEnds::rounded);
}

void name_places(ChartAxis& axis, const std::vector<std::string>& names) {
  axis.ticks.clear();
  for (std::size_t i = 0; i < names.size(); ++i)
    axis.ticks.push_back(static_cast<double>(i + 1));
  axis.tick_labels = names;
  axis.range = ChartRange{0.5, static_cast<double>(names.size()) + 0.5};
}

}  // namespace calpe::tools
