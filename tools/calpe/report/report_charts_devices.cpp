// SPDX-License-Identifier: Apache-2.0
// The other charts: roofline, latency, XOR counts, emitted code, devices, predictions.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "calpe/report/report_charts.hpp"
#include "calpe/report/report_series.hpp"

namespace calpe::tools {

namespace {

constexpr std::string_view predicted_note = "Hollow: predicted, not measured. Formula: ";

// --- roofline --------------------------------------------------------------------------------

// Encode of k+m: each data byte is multiplied m times, and k + m bytes move per k data bytes.
double products_per_byte_moved(const Json& row) {
  const double k = number_of(row, "data_shards");
  const double m = number_of(row, "parity_shards");
  return k * m / (k + m);
}

double moved_per_data_byte(const Json& row) {
  const double k = number_of(row, "data_shards");
  return (k + number_of(row, "parity_shards")) / k;
}

struct Bandwidths {
  double memory = 0;  // GB/s moved by the memory-limit kernel
  double cache = 0;
};

Bandwidths bandwidths_of(const Json& run) {
  Bandwidths found;
  for (const Json& row : rows_of(run, "cold")) {
    found.memory =
        std::max(found.memory, number_of(row, "roof_gb_per_s") * moved_per_data_byte(row));
  }
  for (const Json& row : rows_of(run, "")) {
    if (text_of(row, "operation") != "encode") continue;
    found.cache = std::max(found.cache, number_of(row, "roof_gb_per_s") * moved_per_data_byte(row));
  }
  return found;
}

ChartSeries roof_line(const std::string& name, double bandwidth, double top) {
  ChartSeries line;
  line.name = name;
  line.style = LineStyle::dashed;
  const double knee = bandwidth > 0 ? top / bandwidth : 0;
  line.points = {{0.5, 0.5 * bandwidth}, {knee, top}, {std::max(20.0, 1.2 * knee), top}};
  return line;
}

void add_roofline_points(Chart& chart, const Json& rows, const std::string& name,
                         const SeriesLook& look) {
  ChartSeries points;
  points.name = name;
  for (const Json& row : rows) {
    if (text_of(row, "operation") != "encode" || number_of(row, "gb_per_s") <= 0) continue;
    points.points.push_back({products_per_byte_moved(row),
                             number_of(row, "gb_per_s") * number_of(row, "parity_shards")});
  }
  add_series(chart, std::move(points), look);
}

// --- categories ------------------------------------------------------------------------------

// Points over names, one series per kind, in order of appearance.
class Categories {
 public:
  void add(const std::string& series, const std::string& place, double y) {
    if (y <= 0) return;
    points_[index_in(series_, series)].push_back(
        {static_cast<double>(index_in(places_, place) + 1), y});
  }

  void draw(Chart& chart, LineStyle style) const {
    const double width = 0.5 / static_cast<double>(std::max<std::size_t>(1, series_.size()));
    for (std::size_t i = 0; i < series_.size(); ++i) {
      ChartSeries series;
      series.name = series_[i];
      series.points = points_.at(i);
      const double shift =
          style == LineStyle::points
              ? width * (static_cast<double>(i) - static_cast<double>(series_.size() - 1) / 2)
              : 0;
      for (ChartPoint& point : series.points)
        point.x += shift;
      const auto group = static_cast<unsigned>(i + 1);
      add_series(chart, std::move(series), {style, group, group - 1});
    }
    name_places(chart.x, places_);
  }

 private:
  static std::size_t index_in(std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    names.push_back(name);
    return names.size() - 1;
  }
  std::vector<std::string> series_;
  std::vector<std::string> places_;
  std::map<std::size_t, std::vector<ChartPoint>> points_;
};

}  // namespace

Chart roofline_chart(const Json& run) {
  Chart chart;
  chart.title = "Roofline: is encoding limited by memory or by arithmetic?";
  chart.subtitle = "Each point is a shape; lines are limits measured on this machine";
  chart.x = {.label = "products per byte moved, k m / (k + m)", .is_log = true};
  chart.y = {.label = "10⁹ products of GF(2⁸) per second", .is_log = true};
  add_roofline_points(chart, rows_of(run, ""), "encode, data in a cache",
                      {LineStyle::points, 1, 0});
  add_roofline_points(chart, rows_of(run, "cold"), "encode, data in memory",
                      {LineStyle::points, 2, 1});
  double top = 0;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points)
      top = std::max(top, point.y);
  }
  if (top <= 0) return chart;
  const Bandwidths bandwidths = bandwidths_of(run);
  if (bandwidths.memory > 0) {
    chart.series.push_back(
        roof_line(fmt::format("memory: {} GB/s moved", rate_text(bandwidths.memory)),
                  bandwidths.memory, top));
  }
  if (bandwidths.cache > 0) {
    chart.series.push_back(roof_line(
        fmt::format("caches: {} GB/s moved", rate_text(bandwidths.cache)), bandwidths.cache, top));
  }
  chart.references.push_back({top, "highest product rate of this run"});
  chart.notes.emplace_back(
      "Bandwidths come from a kernel that moves an encoder's bytes without its arithmetic: the "
      "best of this run from memory (--cold) and from caches. Codes with m >= 5 are transforms "
      "(profile lch), which need fewer products than the matrix product counted here.");
  return chart;
}

Chart latency_chart(const Json& run) {
  Chart chart;
  chart.title = "Latency of single calls, cumulative";
  chart.subtitle = "Encode 10+4, wall time of every call, including preemption";
  chart.x = {.label = "microseconds per call", .is_log = true};
  chart.y = {.label = "part of calls", .range = ChartRange{0, 1}};
  const std::vector<std::string> peers = peers_of(run);
  for (const Json& row : rows_of(run, "latency")) {
    const std::string coder = text_of(row, "coder");
    const auto place = std::find(peers.begin(), peers.end(), coder);
    ChartSeries series;
    series.name = fmt::format("{}, {}", coder == "calpe" ? "Calpe" : peer_title(run, coder),
                              length_text(number_of(row, "shard_bytes")));
    for (const Json& point : list_of(row, "cdf")) {
      if (point.is_array() && point.size() == 2 && point[0].is_number() && point[1].is_number())
        series.points.push_back({point[0].get<double>(), point[1].get<double>()});
    }
    const auto group = coder == "calpe" ? 1U : static_cast<unsigned>(2 + (place - peers.begin()));
    const bool is_short = number_of(row, "shard_bytes") < 32768;
    add_series(chart, std::move(series),
               {is_short ? LineStyle::line : LineStyle::dashed, group, 0});
    chart.notes.push_back(
        fmt::format("{}: P50 {:.4g}, P99 {:.4g}, P99.9 {} us of {} calls.",
                    fmt::format("{} {}", coder, length_text(number_of(row, "shard_bytes"))),
                    number_of(row, "p50_us"), number_of(row, "p99_us"),
                    number_of(row, "p999_us") > 0 ? fmt::format("{:.4g}", number_of(row, "p999_us"))
                                                  : "(too few calls)",
                    number_of(row, "calls")));
  }
  chart.references = {{0.5, "P50"}, {0.99, "P99"}};
  return chart;
}

Chart xors_chart(const Json& run) {
  Chart chart;
  chart.title = "XORs of an encoder: direct, iterative, optimised";
  chart.subtitle = "Profile cauchy; two-input XORs of one unit";
  chart.x = {.label = "code"};
  chart.y = {.label = "XORs", .is_log = true};
  Categories categories;
  for (const Json& row : rows_of(run, "xors")) {
    const std::string code = fmt::format("{}, w={}", shape_of(row), number_of(row, "word_bits"));
    for (const char* style : {"direct", "iterative", "optimised"})
      categories.add(style, code, number_of(row, style));
    if (number_of(row, "published_direct") > 0) {
      chart.notes.push_back(fmt::format(
          "{}: published {} direct and {} iterative; here {} direct, {} iterative and {} "
          "optimised.",
          code, number_of(row, "published_direct"), number_of(row, "published_iterative"),
          number_of(row, "direct"), number_of(row, "iterative"), number_of(row, "optimised")));
    }
  }
  categories.draw(chart, LineStyle::line_points);
  return chart;
}

Chart emitted_chart(const Json& run) {
  Chart chart;
  chart.title = "Emitted C code: sequential and OpenMP, direct and iterative";
  chart.subtitle = "4+2, w = 3, compiled on this machine; repeats a table of 2012";
  chart.x = {.label = "unit length and style"};
  chart.y = {.label = "GB/s of data"};
  Categories categories;
  for (const Json& row : rows_of(run, "emitted")) {
    const std::string place =
        fmt::format("{} {}", length_text(number_of(row, "unit_bytes")), text_of(row, "style"));
    const double threads = number_of(row, "threads");
    const std::string name = text_of(row, "processing") == "openmp"
                                 ? fmt::format("OpenMP, {} threads", threads)
                                 : "sequential";
    categories.add(name, place, number_of(row, "gb_per_s_median"));
  }
  categories.draw(chart, LineStyle::points);
  start_at_zero(chart);
  chart.notes.emplace_back("Medians; the page's table has the published numbers.");
  return chart;
}

Chart devices_chart(const Json& run) {
  Chart chart;
  chart.title = "Backends and devices: total, kernel, transfer";
  chart.subtitle = "Encode 10+4, shards of 1 MiB; wall time";
  chart.x = {.label = "backend"};
  chart.y = {.label = "GB/s of data", .is_log = true};
  Categories categories;
  for (const Json& row : rows_of(run, "devices")) {
    const std::string way = text_of(row, "way");
    std::string name = "transfers alone";
    if (way == "host memory") name = "total: data in host memory";
    if (way == "device memory") name = "kernel: data on the device";
    categories.add(name, text_of(row, "device"), number_of(row, "gb_per_s_median"));
  }
  categories.draw(chart, LineStyle::points);
  chart.notes.emplace_back(
      "Backends that compute on the caller's thread use host memory, so they have one point only.");
  return chart;
}

Chart phases_chart(const Json& run) {
  Chart chart;
  chart.title = "First use of a device, phase by phase";
  chart.subtitle = "In a separate process with an empty kernel cache; 10+4, shards of 1 MiB";
  chart.x = {.label = "phase"};
  chart.y = {.label = "seconds", .is_log = true};
  Categories categories;
  for (const Json& row : rows_of(run, "phases")) {
    for (const char* phase :
         {"platform", "buffers", "compile", "transfer_in", "kernel", "transfer_out"}) {
      std::string place = phase;
      std::replace(place.begin(), place.end(), '_', ' ');
      categories.add(text_of(row, "device"), place,
                     number_of(row, std::string(phase) + "_seconds"));
    }
  }
  categories.draw(chart, LineStyle::line_points);
  if (const std::string note = text_of(section_of(run, "phases"), "note"); !note.empty())
    chart.notes.push_back(note + ".");
  return chart;
}

Chart predictions_chart(const Json& run) {
  Chart chart;
  chart.title = "Predicted GPU rates, data in GPU memory";
  chart.subtitle = "Hollow: predicted, not measured. Filled: measured on this machine.";
  chart.x = {.label = "shape"};
  chart.y = {.label = "GB/s of data", .is_log = true};
  const Json& section = section_of(run, "predictions");
  std::vector<std::string> shapes;
  unsigned group = 2;
  for (const Json& gpu : list_of(section, "gpus")) {
    ChartSeries series;
    series.name = text_of(gpu, "gpu") + ", predicted";
    series.is_hollow = true;
    for (const Json& row : list_of(gpu, "rows")) {
      if (text_of(row, "layout") != "bytes") continue;
      auto place = std::find(shapes.begin(), shapes.end(), shape_of(row));
      if (place == shapes.end()) place = shapes.insert(place, shape_of(row));
      series.points.push_back(
          {static_cast<double>(place - shapes.begin()) + 1, number_of(row, "gb_per_s")});
    }
    add_series(chart, std::move(series), {LineStyle::points, group, group});
    ++group;
  }
  if (chart.series.empty()) return chart;
  ChartSeries here;
  here.name = "this CPU, one thread, measured";
  for (const Json& row : rows_of(run, "")) {
    const auto place = std::find(shapes.begin(), shapes.end(), shape_of(row));
    const bool is_wanted = text_of(row, "operation") == "encode" &&
                           number_of(row, "shard_bytes") == 1 << 20 && place != shapes.end();
    if (is_wanted) {
      here.points.push_back(
          {static_cast<double>(place - shapes.begin()) + 1, number_of(row, "gb_per_s_median")});
    }
  }
  add_series(chart, std::move(here), {LineStyle::points, 1, 0});
  name_places(chart.x, shapes);
  chart.notes.push_back(std::string(predicted_note) + text_of(section, "formula") + ".");
  return chart;
}

std::vector<NamedChart> excess_charts(const Json& run) {
  std::vector<NamedChart> charts;
  for (const Json& gpu : list_of(section_of(run, "excess"), "gpus")) {
    Chart chart;
    chart.title = "Link rate minus kernel rate";
    chart.subtitle =
        text_of(gpu, "gpu") + ": predicted. Below 0 the kernel is faster than the link.";
    chart.x = {.label = "data shards, k"};
    chart.y = {.label = "GB/s of data, link - kernel"};
    std::map<unsigned, ChartSeries> by_parity;
    for (const Json& row : list_of(gpu, "rows")) {
      const auto m = static_cast<unsigned>(number_of(row, "parity_shards"));
      by_parity[m].points.push_back(
          {number_of(row, "data_shards"), number_of(row, "excess_gb_per_s")});
    }
    unsigned group = 1;
    for (auto& entry : by_parity) {
      entry.second.name = fmt::format("m = {}", entry.first);
      entry.second.is_hollow = true;
      add_series(chart, std::move(entry.second), {LineStyle::line_points, group, group});
      ++group;
    }
    chart.references = {{0, "balanced"}};
    chart.notes.push_back(std::string(predicted_note) + text_of(gpu, "formula") + ".");
    charts.push_back({fmt::format("excess_{}", charts.size() + 1), std::move(chart)});
  }
  return charts;
}

}  // namespace calpe::tools
