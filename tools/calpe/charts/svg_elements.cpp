// SPDX-License-Identifier: Apache-2.0
#include "calpe/charts/svg_elements.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "calpe/charts/chart_text.hpp"

namespace calpe::tools {

namespace {

// The colour-blind safe palette of Okabe and Ito, without yellow, which is invisible on white.
constexpr std::array<Colour, 7> colours = {{{"#000000", "#000000"},
                                            {"#0072B2", "#00609A"},
                                            {"#D55E00", "#A84A00"},
                                            {"#009E73", "#00704F"},
                                            {"#CC79A7", "#A04578"},
                                            {"#E69F00", "#8A5F00"},
                                            {"#56B4E9", "#1F6F9F"}}};

}  // namespace

const Colour& colour_of(const ChartSeries& series) {
  return colours[series.group % colours.size()];
}

std::string px(double value) {
  return decimal(value, 2);
}

std::string text_at(Pixel at, std::string_view attributes, std::string_view content) {
  return text("<text x=\"", px(at.x), "\" y=\"", px(at.y), "\" ", attributes, ">",
              escape_xml(content), "</text>\n");
}

std::string line_between(Pixel a, Pixel b, std::string_view attributes) {
  return text("<line x1=\"", px(a.x), "\" y1=\"", px(a.y), "\" x2=\"", px(b.x), "\" y2=\"", px(b.y),
              "\" ", attributes, "/>\n");
}

std::string size_attribute(double size) {
  return text("font-size=\"", px(size), "\"");
}

std::string stroke_of(const ChartSeries& series) {
  std::string_view dashes = "";
  if (series.style == LineStyle::dashed) dashes = " stroke-dasharray=\"7 4\"";
  if (series.style == LineStyle::dotted) dashes = " stroke-dasharray=\"1.5 4\"";
  return text("fill=\"none\" stroke=\"", colour_of(series).line, "\" stroke-width=\"2\"", dashes);
}

std::string marker_at(Pixel at, const ChartSeries& series) {
  const std::string_view colour = colour_of(series).line;
  const std::string paint =
      series.is_hollow ? text(" fill=\"none\" stroke=\"", colour, "\" stroke-width=\"1.6\"/>\n")
                       : text(" fill=\"", colour, "\" stroke=\"#ffffff\" stroke-width=\"0.8\"/>\n");
  const std::string move = text("<path class=\"mark\" d=\"M", px(at.x), " ", px(at.y));
  switch (series.marker % 4) {
    case 1:
      return move + "m-3.6 -3.6h7.2v7.2h-7.2z\"" + paint;
    case 2:
      return move + "m0 -5l4.6 8.2h-9.2z\"" + paint;
    case 3:
      return move + "m0 -5l5 5l-5 5l-5 -5z\"" + paint;
    default:
      return text("<circle class=\"mark\" cx=\"", px(at.x), "\" cy=\"", px(at.y), "\" r=\"4\"",
                  paint);
  }
}

bool has_line(const ChartSeries& series) {
  return series.style != LineStyle::points;
}
bool has_markers(const ChartSeries& series) {
  return series.style == LineStyle::points || series.style == LineStyle::line_points;
}

bool Box::holds(Pixel p) const noexcept {
  constexpr double slack = 0.01;
  return p.x >= left - slack && p.x <= right + slack && p.y >= top - slack && p.y <= bottom + slack;
}

// Liang-Barsky algorithm.
bool clip(Pixel& a, Pixel& b, const Box& box) {
  double enters = 0;
  double leaves = 1;
  const auto cut = [&](double from, double to, double low, double high) {
    const double d = to - from;
    if (d == 0) return from >= low && from <= high;
    enters = std::max(enters, ((d > 0 ? low : high) - from) / d);
    leaves = std::min(leaves, ((d > 0 ? high : low) - from) / d);
    return enters <= leaves;
  };
  if (!cut(a.x, b.x, box.left, box.right) || !cut(a.y, b.y, box.top, box.bottom)) return false;
  const Pixel from = a;
  const Pixel way = {b.x - a.x, b.y - a.y};
  if (enters > 0) a = {from.x + enters * way.x, from.y + enters * way.y};
  if (leaves < 1) b = {from.x + leaves * way.x, from.y + leaves * way.y};
  return true;
}

std::string path_of(const std::vector<Segment>& segments) {
  std::string path;
  const Segment* before = nullptr;
  for (const Segment& segment : segments) {
    if (before == nullptr || before->to != segment.from)
      path += text("M", px(segment.from.x), " ", px(segment.from.y));
    path += text("L", px(segment.to.x), " ", px(segment.to.y));
    before = &segment;
  }
  return path;
}

}  // namespace calpe::tools
