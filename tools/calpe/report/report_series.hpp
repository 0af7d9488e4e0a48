// SPDX-License-Identifier: Apache-2.0
// Series of charts out of rows.
#pragma once
#include <string>
#include <vector>

#include "calpe/charts/line_chart.hpp"
#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

// The 10th and the 90th percentile of a row's own rate.
ChartRange spread_of(const Json& row);

// The medians of `gb_per_s<suffix>` over a field; rows without are left out. Ours, with an empty
// suffix, has its spread.
ChartSeries measured_series(std::string name, const std::vector<const Json*>& rows,
                            const std::string& x_key, const std::string& suffix);

struct SeriesLook {
  LineStyle style = LineStyle::line_points;
  unsigned group = 0;
  unsigned marker = 0;
};
// Nothing when it has no points.
void add_series(Chart& chart, ChartSeries series, const SeriesLook& look);

// A linear axis of rates begins at 0: differences are then what they look like.
void start_at_zero(Chart& chart);

// Places 1, 2, ... on an axis, with names instead of numbers.
void name_places(ChartAxis& axis, const std::vector<std::string>& names);

}  // namespace calpe::tools
