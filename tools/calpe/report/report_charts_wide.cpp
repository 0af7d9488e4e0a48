// SPDX-License-Identifier: Apache-2.0
// Charts of `calpe bench --wide`: rates over the number of shards, one chart per operation.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "calpe/report/report_charts.hpp"
#include "calpe/report/report_series.hpp"

namespace calpe::tools {

namespace {

struct WideOperation {
  std::string_view name;
  std::string_view title;
};
constexpr std::array wide_operations = {
    WideOperation{"encode", "Encoding"},
    WideOperation{"decode", "Rebuilding m data shards"},
    WideOperation{"decode1", "Rebuilding one data shard"},
};

double shards_of(const Json& row) {
  return number_of(row, "data_shards") + number_of(row, "parity_shards");
}

// The best rates, as a run merged from several processes has no common rounds.
ChartSeries best_series(std::string name, const std::vector<const Json*>& rows,
                        const std::string& key) {
  ChartSeries series;
  series.name = std::move(name);
  for (const Json* row : rows) {
    if (const double rate = number_of(*row, key); rate > 0)
      series.points.push_back({shards_of(*row), rate});
  }
  return series;
}

std::vector<const Json*> rows_by_shards(const Json& run, std::string_view operation) {
  std::vector<const Json*> rows;
  for (const Json& row : rows_of(run, "")) {
    if (text_of(row, "operation") == operation) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Json* a, const Json* b) { return shards_of(*a) < shards_of(*b); });
  return rows;
}

Chart wide_chart(const Json& run, const WideOperation& operation) {
  Chart chart;
  const std::vector<const Json*> rows = rows_by_shards(run, operation.name);
  if (rows.empty()) return chart;
  chart.title = fmt::format("{} over the number of shards", operation.title);
  chart.subtitle =
      fmt::format("{} to {}, shards of {}, one thread", shape_of(*rows.front()),
                  shape_of(*rows.back()), length_text(number_of(*rows.front(), "shard_bytes")));
  chart.x = {.label = "data and parity shards, k + m", .is_log = true};
  chart.y = {.label = "GB/s of data", .is_log = true};
  add_series(chart, best_series("Calpe", rows, "gb_per_s"), {.group = 1});
  // Peers for wide codes have no plans, so this is what they do.
  if (operation.name == "decode") {
    add_series(chart,
               best_series("Calpe, new losses", rows_by_shards(run, "decode-fresh"), "gb_per_s"),
               {.style = LineStyle::dotted, .group = 1});
  }
  unsigned group = 2;
  for (const std::string& peer : peers_of(run)) {
    add_series(chart, best_series(peer_title(run, peer), rows, "gb_per_s_" + peer),
               {.group = group, .marker = group - 1});
    ++group;
  }
  add_series(chart, best_series("memory limit", rows, "roof_gb_per_s"),
             {.style = LineStyle::dashed});
  chart.notes.emplace_back(
      "GB/s: 10^9 bytes of data per second; parity and rebuilt bytes are not counted. Best rounds. "
      "Both axes are logarithmic.");
  return chart;
}

}  // namespace

std::vector<NamedChart> wide_charts(const Json& run) {
  std::vector<NamedChart> charts;
  if (text_of(run, "extent") != "wide") return charts;
  for (const WideOperation& operation : wide_operations)
    charts.push_back({fmt::format("wide_{}", operation.name), wide_chart(run, operation)});
  return charts;
}

}  // namespace calpe::tools
