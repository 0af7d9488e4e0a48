// SPDX-License-Identifier: Apache-2.0
// Charts of measured rates: over k, shard length, packet length, profiles and threads.
#include "calpe/report/report_charts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "calpe/report/report_series.hpp"

namespace calpe::tools {

namespace {

constexpr std::string_view counted_note =
    "GB/s: 10^9 bytes of data per second; parity and rebuilt bytes are not counted. Medians of "
    "interleaved rounds; thin lines: 10th to 90th percentile.";

// Adds Calpe, every peer and the memory limit over one field of the rows.
void add_contest(Chart& chart, const Json& run, const std::vector<const Json*>& rows,
                 const std::string& x_key) {
  add_series(chart, measured_series("Calpe", rows, x_key, ""), {.group = 1});
  unsigned group = 2;
  for (const std::string& peer : peers_of(run)) {
    add_series(chart, measured_series(peer_title(run, peer), rows, x_key, "_" + peer),
               {.group = group, .marker = group - 1});
    ++group;
  }
  ChartSeries roof;
  roof.name = "memory limit";
  roof.style = LineStyle::dashed;
  for (const Json* row : rows)
    roof.points.push_back({number_of(*row, x_key), number_of(*row, "roof_gb_per_s")});
  if (!roof.points.empty()) chart.series.push_back(std::move(roof));
}

void take_ticks(ChartAxis& axis, const Chart& chart, bool has_lengths) {
  std::set<double> values;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points)
      values.insert(point.x);
  }
  axis.ticks.assign(values.begin(), values.end());
  for (const double value : values)
    if (has_lengths) axis.tick_labels.push_back(length_text(value));
}

std::vector<const Json*> rows_with(const Json& run, std::string_view section,
                                   const std::vector<std::pair<std::string, Json>>& wanted) {
  std::vector<const Json*> found;
  for (const Json& row : rows_of(run, section)) {
    const bool is_wanted = std::all_of(wanted.begin(), wanted.end(), [&](const auto& each) {
      return row.contains(each.first) && row.at(each.first) == each.second;
    });
    if (is_wanted) found.push_back(&row);
  }
  return found;
}

// Names contain words from the run file, which may have "/" or control characters. Replaces unsafe
// characters and makes names unique.
void name_files(std::vector<NamedChart>& charts) {
  constexpr std::size_t length_max = 60;
  std::set<std::string> taken;
  for (NamedChart& each : charts) {
    std::string name = each.name.substr(0, length_max);
    std::replace_if(
        name.begin(), name.end(),
        [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'); },
        '_');
    std::string file = name;
    for (unsigned number = 2; !taken.insert(file).second; ++number)
      file = fmt::format("{}_{}", name, number);
    each.name = file + ".svg";
  }
}

}  // namespace

std::vector<NamedChart> over_k_charts(const Json& run) {
  std::set<std::pair<std::string, unsigned>> kinds;
  for (const Json& row : rows_of(run, "over_k")) {
    if (text_of(row, "operation").empty() || number_of(row, "parity_shards") <= 0) continue;
    kinds.emplace(text_of(row, "operation"),
                  static_cast<unsigned>(number_of(row, "parity_shards")));
  }
  std::vector<NamedChart> charts;
  for (auto kind = kinds.rbegin(); kind != kinds.rend(); ++kind) {
    const auto rows =
        rows_with(run, "over_k", {{"operation", kind->first}, {"parity_shards", kind->second}});
    Chart chart;
    const bool is_encode = kind->first == "encode";
    chart.title = fmt::format("{} over the number of data shards, m = {}",
                              is_encode ? "Encoding" : "Rebuilding m shards", kind->second);
    chart.subtitle = fmt::format("k+{}, shards of {}, one thread", kind->second,
                                 length_text(number_of(*rows.front(), "shard_bytes")));
    chart.x = {.label = "data shards, k"};
    chart.y = {.label = "GB/s of data"};
    add_contest(chart, run, rows, "data_shards");
    take_ticks(chart.x, chart, false);
    start_at_zero(chart);
    chart.notes.emplace_back(counted_note);
    charts.push_back({fmt::format("over_k_{}_m{}", kind->first, kind->second), std::move(chart)});
  }
  std::sort(charts.begin(), charts.end(), [](const NamedChart& a, const NamedChart& b) {
    return std::pair(a.name[7] == 'd', a.name) < std::pair(b.name[7] == 'd', b.name);
  });
  return charts;
}

std::vector<NamedChart> over_bytes_charts(const Json& run) {
  std::vector<std::string> shapes;
  for (const Json& row : rows_of(run, "over_bytes")) {
    if (std::find(shapes.begin(), shapes.end(), shape_of(row)) == shapes.end())
      shapes.push_back(shape_of(row));
  }
  std::vector<NamedChart> charts;
  for (const std::string& shape : shapes) {
    std::vector<const Json*> rows;
    for (const Json& row : rows_of(run, "over_bytes"))
      if (shape_of(row) == shape) rows.push_back(&row);
    Chart chart;
    chart.title = fmt::format("Encoding {} over shard length", shape);
    chart.subtitle = "The same stripe repeatedly, one thread: short shards stay in a cache";
    chart.x = {.label = "shard length", .is_log = true};
    chart.y = {.label = "GB/s of data"};
    add_contest(chart, run, rows, "shard_bytes");
    take_ticks(chart.x, chart, true);
    start_at_zero(chart);
    chart.notes.emplace_back(counted_note);
    std::string name = "over_bytes_" + shape;
    std::replace(name.begin(), name.end(), '+', '_');
    charts.push_back({name, std::move(chart)});
  }
  return charts;
}

Chart packets_chart(const Json& run) {
  Chart chart;
  chart.title = "Encoding over packet length";
  std::vector<const Json*> rows;
  for (const Json& row : rows_of(run, "packets"))
    rows.push_back(&row);
  if (rows.empty()) return chart;
  const Json& first = *rows.front();
  chart.subtitle =
      fmt::format("{} {}, w = {}, shards of {}, {}", text_of(first, "profile"), shape_of(first),
                  number_of(first, "word_bits"), length_text(number_of(first, "shard_bytes")),
                  text_of(first, "path"));
  chart.x = {.label = "packet length", .is_log = true};
  chart.y = {.label = "GB/s of data"};
  add_contest(chart, Json::object(), rows, "packet_bytes");
  take_ticks(chart.x, chart, true);
  start_at_zero(chart);
  chart.notes.emplace_back(counted_note);
  return chart;
}

Chart profiles_chart(const Json& run) {
  Chart chart;
  chart.title = "Which profile: encoding and rebuilding m shards";
  chart.subtitle = "Shards of 64 KiB, one thread";
  chart.x = {.label = "shape"};
  chart.y = {.label = "GB/s of data"};
  std::vector<std::string> shapes;
  std::map<std::pair<std::string, std::string>, ChartSeries> series;
  unsigned profiles = 0;
  std::map<std::string, unsigned> groups;
  for (const Json& row : rows_of(run, "profiles")) {
    const std::string profile = text_of(row, "profile");
    const std::string operation = text_of(row, "operation");
    auto place = std::find(shapes.begin(), shapes.end(), shape_of(row));
    if (place == shapes.end()) place = shapes.insert(place, shape_of(row));
    if (groups.emplace(profile, profiles + 1).second) ++profiles;
    ChartSeries& each = series[{profile, operation}];
    each.name = fmt::format("{}, {}", profile, operation);
    each.style = LineStyle::points;
    each.group = groups[profile];
    each.marker = operation == "encode" ? 0 : 2;
    // Offset the points so that they do not overlap.
    const double x = static_cast<double>(place - shapes.begin()) + 1 +
                     0.08 * (2 * (each.group - 1.0) + (operation == "encode" ? 0 : 1) - 2.5);
    each.points.push_back({x, number_of(row, "gb_per_s_median")});
    each.spread.push_back(spread_of(row));
  }
  for (auto& entry : series)
    chart.series.push_back(std::move(entry.second));
  name_places(chart.x, shapes);
  start_at_zero(chart);
  chart.notes.emplace_back(counted_note);
  return chart;
}

Chart threads_chart(const Json& run) {
  Chart chart;
  chart.title = "Encoding 10+4 over the number of threads";
  chart.subtitle = "Callers: each has its own stripe. Pool: the codec splits one stripe.";
  chart.x = {.label = "threads"};
  chart.y = {.label = "GB/s of data, all threads together"};
  std::map<std::string, ChartSeries> series;
  const auto add = [&](const std::string& name, ChartPoint point, unsigned group, bool is_roof) {
    ChartSeries& each = series[name];
    each.name = name;
    each.group = group;
    each.style = is_roof ? LineStyle::dashed : LineStyle::line_points;
    const bool is_there = std::any_of(each.points.begin(), each.points.end(),
                                      [&](const ChartPoint& other) { return other.x == point.x; });
    if (!is_there && point.y > 0) each.points.push_back(point);
  };
  for (const Json& row : rows_of(run, "threads")) {
    const double threads = number_of(row, "threads");
    const double pool = number_of(row, "pool_threads");
    const std::string length = length_text(number_of(row, "shard_bytes"));
    const unsigned group = number_of(row, "shard_bytes") > 65536 ? 2 : 1;
    const std::string kind = pool > 1 ? "pool, " : "callers, ";
    const unsigned colour = pool > 1 ? 3 : group;
    add(kind + length, {1, number_of(row, "gb_per_s_alone")}, colour, false);
    add(kind + length, {std::max(threads, pool), number_of(row, "gb_per_s")}, colour, false);
    if (pool > 1) continue;
    add("memory limit, " + length, {1, number_of(row, "roof_gb_per_s_alone")}, group, true);
    add("memory limit, " + length, {threads, number_of(row, "roof_gb_per_s")}, group, true);
  }
  for (auto& entry : series)
    chart.series.push_back(std::move(entry.second));
  start_at_zero(chart);
  take_ticks(chart.x, chart, false);
  chart.notes.emplace_back(
      "Best rounds, wall time. The one-thread rates come from the same rounds.");
  return chart;
}

std::vector<NamedChart> report_charts(const Json& run) {
  std::vector<NamedChart> charts = over_k_charts(run);
  const auto add_all = [&](std::vector<NamedChart> more) {
    std::move(more.begin(), more.end(), std::back_inserter(charts));
  };
  add_all(over_bytes_charts(run));
  add_all(wide_charts(run));
  add_all({{"roofline", roofline_chart(run)},
           {"latency", latency_chart(run)},
           {"threads", threads_chart(run)},
           {"profiles", profiles_chart(run)},
           {"packets", packets_chart(run)},
           {"xors", xors_chart(run)},
           {"emitted", emitted_chart(run)},
           {"devices", devices_chart(run)},
           {"phases", phases_chart(run)},
           {"predictions", predictions_chart(run)}});
  add_all(excess_charts(run));
  std::erase_if(charts, [](const NamedChart& each) { return each.chart.series.empty(); });
  name_files(charts);
  return charts;
}

}  // namespace calpe::tools
