// SPDX-License-Identifier: Apache-2.0
// Lines, markers and text as SVG elements, and their geometry.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "calpe/charts/line_chart.hpp"

namespace calpe::tools {

inline constexpr std::string_view ink = "#222222";
inline constexpr std::string_view grey = "#595959";  // 7:1 on white

// Text needs more contrast than lines.
struct Colour {
  std::string_view line;
  std::string_view text;
};
const Colour& colour_of(const ChartSeries& series);
bool has_line(const ChartSeries& series);
bool has_markers(const ChartSeries& series);

struct Pixel {
  double x = 0;
  double y = 0;
  bool operator==(const Pixel&) const = default;
};
struct Segment {
  Pixel from;
  Pixel to;
};
struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  // Tolerates a hundredth of a pixel, because logarithms are not exact.
  bool holds(Pixel p) const noexcept;
};
// Clips the segment to the box; false if nothing remains.
bool clip(Pixel& a, Pixel& b, const Box& box);

std::string px(double value);  // two decimals
std::string size_attribute(double font_size);
std::string text_at(Pixel at, std::string_view attributes, std::string_view content);
std::string line_between(Pixel a, Pixel b, std::string_view attributes);
std::string stroke_of(const ChartSeries& series);  // attributes
std::string marker_at(Pixel at, const ChartSeries& series);
// Joins touching segments into one path.
std::string path_of(const std::vector<Segment>& segments);

}  // namespace calpe::tools
