// SPDX-License-Identifier: Apache-2.0
// Builds chart series from rows.
#pragma once
#include <string>
#include <vector>

#include "calpe/charts/line_chart.hpp"
#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

// The 10th and 90th percentile of Calpe's rate in a row.
ChartRange spread_of(const Json& row);

// Medians of `gb_per_s<suffix>` over a field; skips rows without it. Only the empty suffix
// (Calpe) has a spread.
ChartSeries measured_series(std::string name, const std::vector<const Json*>& rows,
                            const std::string& x_key, const std::string& suffix);

struct SeriesLook {
  LineStyle style = LineStyle::line_points;
  unsigned group = 0;
  unsigned marker = 0;
};
// Does nothing if the series has no points.
void add_series(Chart& chart, ChartSeries series, const SeriesLook& look);

// Makes a linear rate axis start at 0, so that differences are not exaggerated.
void start_at_zero(Chart& chart);

// Labels positions 1, 2, ... of an axis with names.
void name_places(ChartAxis& axis, const std::vector<std::string>& names);

}  // namespace calpe::tools
