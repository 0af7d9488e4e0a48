// SPDX-License-Identifier: Apache-2.0
// Line charts as SVG, without an external plotting program.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calpe/charts/axis_scale.hpp"

namespace calpe::tools {

struct ChartPoint {
  double x = 0;
  double y = 0;
  bool operator==(const ChartPoint&) const = default;
};

struct ChartAxis {
  std::string label;  // with its unit
  bool is_log = false;
  std::optional<ChartRange> range = {};  // default: slightly more than the data
  // Ticks at exactly these values, such as shard counts. Default: round numbers.
  std::vector<double> ticks = {};
  std::vector<std::string> tick_labels = {};  // one per tick, instead of its value
};

enum class LineStyle : std::uint8_t {
  line,
  dashed,
  dotted,
  points,       // markers only
  line_points,  // markers on a line
};

struct ChartSeries {
  std::string name;  // empty = no label
  std::vector<ChartPoint> points;
  LineStyle style = LineStyle::line;
  unsigned group = 0;                   // series of one group have one colour; 0 is black
  unsigned marker = 0;                  // circle, square, triangle, diamond
  bool is_hollow = false;               // outlined markers, for predictions
  std::vector<ChartRange> spread = {};  // per point, drawn as a thin vertical line; may be empty
};

struct ChartReference {  // a horizontal line
  double y = 0;
  std::string label;
};

struct Chart {
  std::string title;
  std::string subtitle;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
  std::vector<ChartReference> references;
  std::vector<std::string> notes;  // small print below the chart; wrapped
};

// Deterministic. Omits points that are not finite, not positive on a logarithmic axis, or outside a
// given range. Names series at their right end, or in a legend if the names would overlap.
std::string to_svg(const Chart& chart);

}  // namespace calpe::tools
