// SPDX-License-Identifier: Apache-2.0
#include "calpe/charts/line_chart.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/text.hpp"
#include "calpe/charts/chart_text.hpp"
#include "calpe/charts/svg_elements.hpp"

namespace calpe::tools {

namespace {

constexpr double chart_width = 920;
constexpr double plot_height = 430;
constexpr double margin = 24;
constexpr double title_size = 19;
constexpr double text_size = 13;
constexpr double note_size = 11.5;
constexpr double line_height = 1.4;  // factor on the font size
constexpr double label_distance = 16;
constexpr double sample_width = 30;  // of a legend line, in pixels
ChartRange range_on(const Chart& chart, bool is_y) {
  const ChartAxis& axis = is_y ? chart.y : chart.x;
  if (axis.range && axis.range->low < axis.range->high &&
      is_drawable(axis.range->low, axis.is_log) && is_drawable(axis.range->high, axis.is_log))
    return *axis.range;
  std::vector<double> values;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points)
      if (is_drawable(point.x, chart.x.is_log) && is_drawable(point.y, chart.y.is_log))
        values.push_back(is_y ? point.y : point.x);
  }
  // Leave room for their labels above them.
  for (const ChartReference& reference : chart.references)
    if (is_y) values.push_back(reference.y + 0.1 * std::abs(reference.y));
  return range_of(values, axis.is_log, is_y ? RangeEnds::rounded : RangeEnds::padded);
}

AxisTicks ticks_of(const ChartAxis& axis, const ChartRange& range) {
  if (axis.ticks.empty()) return ticks_in(range, axis.is_log);
  AxisTicks ticks = ticks_at(axis.ticks, range);
  for (AxisTick& tick : ticks.major) {
    for (std::size_t i = 0; i < std::min(axis.ticks.size(), axis.tick_labels.size()); ++i)
      if (axis.ticks[i] == tick.value) tick.label = axis.tick_labels[i];
  }
  return ticks;
}

// The visible part of a series.
struct Shape {
  std::vector<Segment> segments;
  std::vector<Segment> whiskers;
  std::vector<Pixel> points;
  Pixel end;  // rightmost visible point
  bool is_visible = false;
};

class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_(chart),
        x_range_(range_on(chart, false)),
        y_range_(range_on(chart, true)),
        x_ticks_(ticks_of(chart.x, x_range_)),
        y_ticks_(ticks_of(chart.y, y_range_)) {
    place();
    for (const ChartSeries& series : chart.series)
      shapes_.push_back(shape_of(series));
  }

  std::string svg();

 private:
  void place();
  void place_legend(double& y);
  AxisScale x_scale() const { return {x_range_, chart_.x.is_log, left_, right_}; }
  AxisScale y_scale() const { return {y_range_, chart_.y.is_log, bottom_, top_}; }
  Box plot() const { return {left_, top_, right_, bottom_}; }
  Shape shape_of(const ChartSeries& series) const;
  void add_whisker(Shape& shape, double x, const ChartRange& spread) const;
  Box place_reference(double y, double width) const;
  bool is_free(const Box& box) const;

  void draw_grid();
  std::size_t labels_step(const AxisScale& x) const;
  void draw_axes();
  void draw_references();
  void draw_series();
  void draw_labels();

  const Chart& chart_;
  ChartRange x_range_;
  ChartRange y_range_;
  AxisTicks x_ticks_;
  AxisTicks y_ticks_;
  double left_ = 0;
  double right_ = 0;
  double top_ = 0;
  double bottom_ = 0;
  bool has_legend_ = false;
  std::vector<Shape> shapes_;  // of all series
  std::string head_;           // title, subtitle and legend
  std::string out_;
};

void Drawing::place() {
  double widest_tick = 0;
  for (const AxisTick& tick : y_ticks_.major)
    widest_tick = std::max(widest_tick, text_width(tick.label, text_size));
  left_ = margin + text_size * line_height + widest_tick + 10;
  double widest_name = 0;
  std::size_t names = 0;
  for (const ChartSeries& series : chart_.series) {
    widest_name = std::max(widest_name, text_width(series.name, text_size));
    names += series.name.empty() ? 0 : 1;
  }
  has_legend_ =
      static_cast<double>(names) * label_distance > plot_height || widest_name > 0.35 * chart_width;
  right_ = chart_width - margin - (has_legend_ || names == 0 ? 0 : widest_name + 22);

  double y = margin;
  const auto add_lines = [&](const std::string& content, double size, std::string_view style) {
    for (const std::string& line : wrap_text(content, size, chart_width - 2 * margin)) {
      y += size * (y == margin ? 1 : line_height);
      head_ += text_at({margin, y}, text(size_attribute(size), " ", style), line);
    }
  };
  add_lines(chart_.title, title_size, text("font-weight=\"bold\" fill=\"", ink, "\""));
  add_lines(chart_.subtitle, text_size, text("fill=\"", grey, "\""));
  if (has_legend_) place_legend(y);
  top_ = y + 18;
  bottom_ = top_ + plot_height;
}

void Drawing::place_legend(double& y) {
  double x = margin;
  y += 1.8 * text_size;
  for (const ChartSeries& series : chart_.series) {
    if (series.name.empty()) continue;
    const double width = sample_width + 8 + text_width(series.name, text_size) + 18;
    if (x > margin && x + width > chart_width - margin) {
      x = margin;
      y += label_distance + 2;
    }
    const Pixel start = {x, y - 0.35 * text_size};
    if (has_line(series))
      head_ += line_between(start, {x + sample_width, start.y}, stroke_of(series));
    if (has_markers(series)) head_ += marker_at({x + sample_width / 2, start.y}, series);
    head_ += text_at(
        {x + sample_width + 8, y},
        text("class=\"key\" ", size_attribute(text_size), " fill=\"", colour_of(series).text, "\""),
        series.name);
    x += width;
  }
}

Shape Drawing::shape_of(const ChartSeries& series) const {
  const AxisScale x = x_scale();
  const AxisScale y = y_scale();
  Shape shape;
  Pixel before;
  bool has_before = false;
  const auto reach = [&](Pixel p) {
    if (!shape.is_visible || p.x >= shape.end.x) shape.end = p;
    shape.is_visible = true;
  };
  for (const ChartPoint& point : series.points) {
    if (!is_drawable(point.x, chart_.x.is_log) || !is_drawable(point.y, chart_.y.is_log)) {
      has_before = false;  // gap in the data
      continue;
    }
    const Pixel here = {x.pixel(point.x), y.pixel(point.y)};
    if (plot().holds(here)) {
      shape.points.push_back(here);
      reach(here);
      const std::size_t index = static_cast<std::size_t>(&point - series.points.data());
      if (index < series.spread.size()) add_whisker(shape, here.x, series.spread[index]);
    }
    Pixel from = before;
    Pixel to = here;
    if (has_before && has_line(series) && clip(from, to, plot())) {
      shape.segments.push_back({from, to});
      reach(to);
    }
    before = here;
    has_before = true;
  }
  return shape;
}

void Drawing::add_whisker(Shape& shape, double x, const ChartRange& spread) const {
  const AxisScale y = y_scale();
  if (!is_drawable(spread.low, chart_.y.is_log) || !is_drawable(spread.high, chart_.y.is_log))
    return;
  Pixel low = {x, y.pixel(spread.low)};
  Pixel high = {x, y.pixel(spread.high)};
  if (clip(low, high, plot())) shape.whiskers.push_back({low, high});
}

void Drawing::draw_grid() {
  const AxisScale x = x_scale();
  const AxisScale y = y_scale();
  constexpr std::string_view major = "stroke=\"#dcdcdc\"";
  constexpr std::string_view minor = "stroke=\"#f1f1f1\"";
  out_ += "<g class=\"grid\" stroke-width=\"1\">\n";
  const auto vertical = [&](double value, std::string_view style) {
    out_ += line_between({x.pixel(value), top_}, {x.pixel(value), bottom_}, style);
  };
  const auto horizontal = [&](double value, std::string_view style) {
    out_ += line_between({left_, y.pixel(value)}, {right_, y.pixel(value)}, style);
  };
  for (const double value : x_ticks_.minor)
    vertical(value, minor);
  for (const double value : y_ticks_.minor)
    horizontal(value, minor);
  for (const AxisTick& tick : x_ticks_.major)
    vertical(tick.value, major);
  for (const AxisTick& tick : y_ticks_.major)
    horizontal(tick.value, major);
  out_ += "</g>\n";
}

// Label every n-th tick; n is the smallest value without overlap.
std::size_t Drawing::labels_step(const AxisScale& x) const {
  constexpr double gap = 6;
  const std::vector<AxisTick>& ticks = x_ticks_.major;
  for (std::size_t step = 1; step < ticks.size(); ++step) {
    bool fits = true;
    for (std::size_t i = step; i < ticks.size() && fits; i += step) {
      const double widths =
          text_width(ticks[i].label, text_size) + text_width(ticks[i - step].label, text_size);
      const double distance = std::abs(x.pixel(ticks[i].value) - x.pixel(ticks[i - step].value));
      fits = distance >= widths / 2 + gap;
    }
    if (fits) return step;
  }
  return std::max<std::size_t>(1, ticks.size());
}

void Drawing::draw_axes() {
  const AxisScale x = x_scale();
  const AxisScale y = y_scale();
  const std::string style = text(size_attribute(text_size), " fill=\"", ink, "\"");
  out_ += line_between({left_, bottom_}, {right_, bottom_}, "stroke=\"#595959\"");
  out_ += line_between({left_, top_}, {left_, bottom_}, "stroke=\"#595959\"");
  const std::size_t step = labels_step(x);
  for (std::size_t i = 0; i < x_ticks_.major.size(); ++i) {
    const double at = x.pixel(x_ticks_.major[i].value);
    out_ += line_between({at, bottom_}, {at, bottom_ + 5}, "stroke=\"#595959\"");
    if (i % step != 0) continue;
    out_ +=
        text_at({at, bottom_ + 7 + text_size},
                text("class=\"x-tick\" text-anchor=\"middle\" ", style), x_ticks_.major[i].label);
  }
  for (const AxisTick& tick : y_ticks_.major) {
    const double at = y.pixel(tick.value);
    out_ += line_between({left_ - 5, at}, {left_, at}, "stroke=\"#595959\"");
    out_ += text_at({left_ - 9, at + 0.35 * text_size},
                    text("class=\"y-tick\" text-anchor=\"end\" ", style), tick.label);
  }
  out_ += text_at({(left_ + right_) / 2, bottom_ + 16 + 2 * text_size},
                  text("class=\"axis\" text-anchor=\"middle\" ", style), chart_.x.label);
  const Pixel side = {margin - 4 + text_size / 2, (top_ + bottom_) / 2};
  out_ += text_at(side,
                  text("class=\"axis\" text-anchor=\"middle\" transform=\"rotate(-90 ", px(side.x),
                       " ", px(side.y), ")\" ", style),
                  chart_.y.label);
}

// Places the label at the left, unless a line crosses it there and not at the right.
Box Drawing::place_reference(double y, double width) const {
  const Box at_left = {left_ + 6, y - 17, left_ + 6 + width, y - 2};
  const Box at_right = {right_ - 6 - width, y - 17, right_ - 6, y - 2};
  return is_free(at_left) || !is_free(at_right) ? at_left : at_right;
}

bool Drawing::is_free(const Box& box) const {
  return std::none_of(shapes_.begin(), shapes_.end(), [&](const Shape& shape) {
    for (const Segment& segment : shape.segments) {
      Segment part = segment;
      if (clip(part.from, part.to, box)) return true;
    }
    return std::any_of(shape.points.begin(), shape.points.end(),
                       [&](Pixel point) { return box.holds(point); });
  });
}

void Drawing::draw_references() {
  const AxisScale y = y_scale();
  for (const ChartReference& reference : chart_.references) {
    if (!is_drawable(reference.y, chart_.y.is_log)) continue;
    const double at = y.pixel(reference.y);
    if (!plot().holds({left_, at})) continue;
    out_ += line_between({left_, at}, {right_, at},
                         "class=\"reference\" stroke=\"#595959\" stroke-dasharray=\"3 3\"");
    const Box box = place_reference(at, text_width(reference.label, note_size) + 6);
    out_ += text("<rect x=\"", px(box.left), "\" y=\"", px(box.top), "\" width=\"",
                 px(box.right - box.left), "\" height=\"", px(box.bottom - box.top),
                 "\" fill=\"#ffffff\" fill-opacity=\"0.85\"/>\n");
    out_ += text_at({(box.left + box.right) / 2, at - 5.5},
                    text("class=\"reference\" text-anchor=\"middle\" ", size_attribute(note_size),
                         " fill=\"", grey, "\""),
                    reference.label);
  }
}

void Drawing::draw_series() {
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const ChartSeries& series = chart_.series[i];
    const Shape& shape = shapes_[i];
    if (!shape.is_visible) continue;
    out_ += "<g class=\"series\">\n";
    if (!series.name.empty()) out_ += text("<title>", escape_xml(series.name), "</title>\n");
    if (!shape.segments.empty()) {
      out_ += text("<path class=\"line\" d=\"", path_of(shape.segments),
                   "\" stroke-linejoin=\"round\" ", stroke_of(series), "/>\n");
    }
    for (const Segment& whisker : shape.whiskers) {
      out_ += line_between(whisker.from, whisker.to,
                           text("class=\"spread\" stroke=\"", colour_of(series).line,
                                "\" stroke-width=\"1\" stroke-opacity=\"0.7\""));
    }
    // A line of one point would be invisible.
    if (has_markers(series) || shape.segments.empty()) {
      for (const Pixel& point : shape.points)
        out_ += marker_at(point, series);
    }
    out_ += "</g>\n";
  }
}

void Drawing::draw_labels() {
  std::vector<const ChartSeries*> named;
  std::vector<Pixel> ends;
  std::vector<double> wanted;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (chart_.series[i].name.empty() || !shapes_[i].is_visible) continue;
    named.push_back(&chart_.series[i]);
    ends.push_back(shapes_[i].end);
    wanted.push_back(shapes_[i].end.y);
  }
  const double half = label_distance / 2;
  const std::vector<double> places = spread(wanted, label_distance, top_ + half, bottom_ - half);
  for (std::size_t i = 0; i < named.size(); ++i) {
    const Colour& colour = colour_of(*named[i]);
    const Pixel at = {right_ + 18, places[i]};
    out_ += line_between({ends[i].x + 5, ends[i].y}, {at.x - 4, at.y},
                         text("class=\"leader\" stroke=\"", colour.line,
                              "\" stroke-width=\"0.8\" stroke-opacity=\"0.6\""));
    out_ +=
        text_at({at.x, at.y + 0.35 * text_size},
                text("class=\"label\" ", size_attribute(text_size), " fill=\"", colour.text, "\""),
                named[i]->name);
  }
}

std::string Drawing::svg() {
  draw_grid();
  draw_axes();
  draw_references();
  draw_series();
  if (!has_legend_) draw_labels();
  double y = bottom_ + 26 + 2 * text_size;
  for (const std::string& note : chart_.notes) {
    y += 4;
    for (const std::string& line : wrap_text(note, note_size, chart_width - 2 * margin)) {
      y += note_size * line_height;
      out_ +=
          text_at({margin, y},
                  text("class=\"note\" ", size_attribute(note_size), " fill=\"", grey, "\""), line);
    }
  }
  const std::string size = text("width=\"", px(chart_width), "\" height=\"", px(y + margin), "\"");
  return text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", px(chart_width), " ",
              px(y + margin), "\" ", size,
              " role=\"img\" font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', "
              "sans-serif\">\n<title>",
              escape_xml(chart_.title), "</title>\n<rect ", size, " fill=\"#ffffff\"/>\n", head_,
              out_, "</svg>\n");
}

}  // namespace

std::string to_svg(const Chart& chart) {
  return Drawing(chart).svg();
}

}  // namespace calpe::tools
