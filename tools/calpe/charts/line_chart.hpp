// SPDX-License-Identifier: Apache-2.0
// Line charts as SVG text, so that no plotting program is needed where Calpe runs.
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
  std::optional<ChartRange> range = {};  // what the data span, and a little more, unless it is said
  // Ticks at these values only: shard counts, say. Nice numbers unless there are some.
  std::vector<double> ticks = {};
  std::vector<std::string> tick_labels = {};  // one for each of these, instead of its number
};

enum class LineStyle : std::uint8_t {
  line,
  dashed,
  dotted,
  points,       // markers alone
  line_points,  // markers on a line
};

struct ChartSeries {
  std::string name;  // no label when it is empty
  std::vector<ChartPoint> points;
  LineStyle style = LineStyle::line;
  unsigned group = 0;                   // series of one group have one colour; 0 is black
  unsigned marker = 0;                  // circle, square, triangle, diamond
  bool is_hollow = false;               // markers are outlines: said of what nobody has measured
  std::vector<ChartRange> spread = {};  // of each point, as a thin vertical line; may be empty
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
  std::vector<std::string> notes;  // conditions, in small print below; wrapped
};

// The same chart always gives the same text. Points that are not finite, not positive on a
// logarithmic axis or outside of a range that was said are left out. Series are named at their
// right end, or in a legend when there are too many to stand there without overlap.
std::string to_svg(const Chart& chart);

}  // namespace calpe::tools
