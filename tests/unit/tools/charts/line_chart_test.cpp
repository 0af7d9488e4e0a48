// SPDX-License-Identifier: Apache-2.0
// Checks charts as a reader sees them: positions of points, ticks and labels.
#include "calpe/charts/line_chart.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

#include "calpe/charts/chart_text.hpp"
#include "support/svg_reader.hpp"

namespace calpe::tools {
namespace {

using tests::SvgElement;
using tests::SvgReader;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Chart powers(LineStyle style) {
  Chart chart;
  chart.title = "powers";
  chart.x = {.label = "x"};
  chart.y = {.label = "y, MB/s", .is_log = true};
  chart.series.push_back({"first", {{1, 10}, {2, 100}, {3, 1000}, {4, 10'000}}, style, 1});
  return chart;
}

// "M1 2L3 4": returns all numbers, in order.
std::vector<double> numbers_of(const std::string& path) {
  std::vector<double> out;
  const char* at = path.data();
  const char* end = at + path.size();
  while (at != end) {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error == std::errc()) out.push_back(value);
    at = error == std::errc() ? next : at + 1;
  }
  return out;
}

TEST(LineChart, monotone_data_is_drawn_monotone_with_equal_decades) {
  const SvgReader svg(to_svg(powers(LineStyle::points)));
  const auto marks = svg.all("circle", "mark");
  ASSERT_EQ(marks.size(), 4U);
  for (std::size_t i = 1; i < marks.size(); ++i) {
    EXPECT_GT(marks[i].number("cx"), marks[i - 1].number("cx"));
    EXPECT_NEAR(marks[i - 1].number("cy") - marks[i].number("cy"),
                marks[0].number("cy") - marks[1].number("cy"), 0.02);
    EXPECT_LT(marks[i].number("cy"), marks[i - 1].number("cy") - 20);
  }
}

TEST(LineChart, points_are_at_the_ticks_of_their_values) {
  const SvgReader svg(to_svg(powers(LineStyle::points)));
  const auto marks = svg.all("circle", "mark");
  ASSERT_EQ(marks.size(), 4U);
  std::size_t met = 0;
  for (const SvgElement& tick : svg.all("text", "y-tick")) {
    if (tick.text == "1000") {
      EXPECT_NEAR(tick.number("y"), marks[2].number("cy"), 6);  // the baseline of the text
      ++met;
    }
  }
  for (const SvgElement& tick : svg.all("text", "x-tick")) {
    if (tick.text == "3") {
      EXPECT_NEAR(tick.number("x"), marks[2].number("cx"), 0.02);
      ++met;
    }
  }
  EXPECT_EQ(met, 2U);
}

TEST(LineChart, labels_of_ticks_do_not_touch) {
  Chart chart = powers(LineStyle::points);
  chart.x.ticks.clear();
  for (unsigned i = 0; i < 40; ++i)
    chart.x.ticks.push_back(1e5 + i);
  chart.x.range = {1e5, 1e5 + 39};
  const SvgReader svg(to_svg(chart));
  double end = 0;
  const auto labels = svg.all("text", "x-tick");
  ASSERT_GE(labels.size(), 2U);
  EXPECT_LT(labels.size(), 40U);
  for (const SvgElement& tick : labels) {
    const double half = text_width(tick.text, 13) / 2;
    EXPECT_GT(tick.number("x") - half, end);
    end = tick.number("x") + half;
  }
}

TEST(LineChart, lines_go_through_their_points) {
  const SvgReader with_line(to_svg(powers(LineStyle::line_points)));
  const auto lines = with_line.all("path", "line");
  const auto marks = with_line.all("circle", "mark");
  ASSERT_EQ(lines.size(), 1U);
  ASSERT_EQ(marks.size(), 4U);
  const std::vector<double> numbers = numbers_of(lines[0].attributes.at("d"));
  ASSERT_EQ(numbers.size(), 8U);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    EXPECT_EQ(numbers[2 * i], marks[i].number("cx"));
    EXPECT_EQ(numbers[2 * i + 1], marks[i].number("cy"));
  }
  EXPECT_TRUE(SvgReader(to_svg(powers(LineStyle::points))).all("path", "line").empty());
  const SvgReader dashed(to_svg(powers(LineStyle::dashed)));
  ASSERT_EQ(dashed.all("path", "line").size(), 1U);
  EXPECT_TRUE(dashed.all("path", "line")[0].attributes.contains("stroke-dasharray"));
  EXPECT_TRUE(dashed.all("circle", "mark").empty());
}

TEST(LineChart, undrawable_points_leave_a_gap) {
  Chart chart = powers(LineStyle::line_points);
  const double inf = std::numeric_limits<double>::infinity();
  chart.series[0].points = {{1, 10},  {2, 100}, {2.5, 0},  {3, 1000}, {3.5, 500},
                            {4, nan}, {5, inf}, {6, -100}, {nan, 10}, {7, 10}};
  const SvgReader svg(to_svg(chart));
  EXPECT_EQ(svg.all("circle", "mark").size(), 5U);
  ASSERT_EQ(svg.all("path", "line").size(), 1U);
  const std::string path = svg.all("path", "line")[0].attributes.at("d");
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 2);
  EXPECT_EQ(to_svg(chart).find("nan"), std::string::npos);
  EXPECT_EQ(to_svg(chart).find("inf"), std::string::npos);
}

TEST(LineChart, lines_are_cut_where_a_range_ends) {
  Chart chart = powers(LineStyle::line_points);
  chart.y.range = ChartRange{100, 3162.2776601683795};  // 2 to 3.5 in decades
  const SvgReader svg(to_svg(chart));
  EXPECT_EQ(svg.all("circle", "mark").size(), 2U);
  const std::vector<double> numbers = numbers_of(svg.all("path", "line").at(0).attributes.at("d"));
  ASSERT_GE(numbers.size(), 6U);
  const auto marks = svg.all("circle", "mark");
  const double decade = marks[0].number("cy") - marks[1].number("cy");
  EXPECT_NEAR(numbers.back(), marks[1].number("cy") - decade / 2, 0.05);
  const double unit = marks[1].number("cx") - marks[0].number("cx");
  EXPECT_NEAR(numbers[numbers.size() - 2], marks[1].number("cx") + unit / 2, 0.05);
}

Chart many(std::size_t count, const std::string& name) {
  Chart chart = powers(LineStyle::line);
  chart.series.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const double y = 100 + static_cast<double>(i % 3);
    chart.series.push_back(
        {name + std::to_string(i), {{1, 10}, {4, y}}, LineStyle::line, static_cast<unsigned>(i)});
  }
  return chart;
}

TEST(LineChart, labels_do_not_overlap) {
  for (const std::size_t count : {1U, 2U, 7U, 21U, 26U}) {
    const SvgReader svg(to_svg(many(count, "series ")));
    std::vector<double> places;
    for (const SvgElement& label : svg.all("text", "label")) {
      places.push_back(label.number("y"));
      EXPECT_GE(places.back(), 0);
      EXPECT_LT(places.back(), svg.all().front().number("height"));
    }
    ASSERT_EQ(places.size(), count);
    std::sort(places.begin(), places.end());
    for (std::size_t i = 1; i < count; ++i)
      EXPECT_GE(places[i] - places[i - 1], svg.all("text", "label")[0].number("font-size"));
  }
}

TEST(LineChart, a_legend_when_labels_have_no_room) {
  for (const Chart& chart :
       {many(40, "series "), many(3, "a name that would take half of the picture's width, ")}) {
    const SvgReader svg(to_svg(chart));
    EXPECT_TRUE(svg.all("text", "label").empty());
    const auto keys = svg.all("text", "key");
    ASSERT_EQ(keys.size(), chart.series.size());
    std::set<std::pair<std::string, std::string>> places;
    for (const SvgElement& key : keys)
      places.insert({key.attributes.at("x"), key.attributes.at("y")});
    EXPECT_EQ(places.size(), keys.size());
  }
}

TEST(LineChart, references_are_drawn_within_the_chart) {
  Chart chart = powers(LineStyle::line);
  chart.references = {{1e6, "million"}, {0, "cannot be drawn"}};
  const SvgReader svg(to_svg(chart));
  ASSERT_EQ(svg.all("line", "reference").size(), 1U);
  ASSERT_EQ(svg.all("text", "reference").size(), 1U);
  const SvgElement line = svg.all("line", "reference")[0];
  EXPECT_EQ(line.number("y1"), line.number("y2"));
  // Above all data, with its label above it and below the title.
  EXPECT_LT(line.number("y1"), numbers_of(svg.all("path", "line")[0].attributes.at("d")).back());
  EXPECT_LT(svg.all("text", "reference")[0].number("y"), line.number("y1"));
  EXPECT_GT(svg.all("text", "reference")[0].number("y"), 45);
}

TEST(LineChart, a_reference_label_avoids_the_lines) {
  Chart chart = powers(LineStyle::line);
  chart.references = {{100, "a label of some length"}};
  const auto place = [&] {
    return SvgReader(to_svg(chart)).all("text", "reference").at(0).number("x");
  };
  chart.series[0].points = {{1, 10}, {4, 10'000}};
  const double rising = place();
  chart.series[0].points = {{1, 110}, {2, 110}, {2.1, 10'000}, {4, 10'000}};
  EXPECT_GT(place(), rising + 200);
}

TEST(LineChart, texts_are_escaped) {
  Chart chart = powers(LineStyle::line);
  const std::string nasty = "<b>&\"'\x01";
  const std::string expected = "&lt;b&gt;&amp;&quot;&apos;?";
  chart.title = chart.subtitle = chart.x.label = chart.y.label = chart.series[0].name = nasty;
  chart.references = {{100, nasty}};
  chart.notes = {nasty};
  const SvgReader svg(to_svg(chart));  // fails when it is not well-formed
  std::size_t seen = 0;
  for (const SvgElement& element : svg.all())
    seen += element.text == expected ? 1 : 0;
  EXPECT_EQ(seen, 9U);  // all texts, and the titles of chart and series
}

TEST(LineChart, scales_is_titled_and_has_a_background) {
  const SvgReader svg(to_svg(powers(LineStyle::line)));
  const SvgElement& root = svg.all().front();
  EXPECT_EQ(root.name, "svg");
  EXPECT_EQ(numbers_of(root.attributes.at("viewBox")),
            (std::vector<double>{0, 0, root.number("width"), root.number("height")}));
  EXPECT_EQ(svg.all()[1].name, "title");
  EXPECT_EQ(svg.all()[1].text, "powers");
  EXPECT_EQ(svg.all()[2].name, "rect");
  EXPECT_EQ(svg.all()[2].attributes.at("fill"), "#ffffff");
  EXPECT_EQ(svg.all()[2].number("width"), root.number("width"));
}

TEST(LineChart, long_notes_are_wrapped_and_make_the_chart_higher) {
  Chart chart = powers(LineStyle::line);
  const double height = SvgReader(to_svg(chart)).all().front().number("height");
  chart.notes.emplace_back();
  for (int i = 0; i < 60; ++i)
    chart.notes[0] += "condition ";
  const SvgReader svg(to_svg(chart));
  const auto notes = svg.all("text", "note");
  EXPECT_GT(notes.size(), 2U);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    EXPECT_LT(notes[i].number("y"), svg.all().front().number("height"));
    EXPECT_TRUE(i == 0 || notes[i].number("y") > notes[i - 1].number("y") + 10);
  }
  EXPECT_GT(svg.all().front().number("height"), height + 30);
}

TEST(LineChart, the_same_chart_gives_the_same_short_text) {
  Chart chart = powers(LineStyle::line_points);
  chart.series[0].points = {{1.0 / 3, 1e2 / 7}, {2.0 / 3, 1e5 / 7}};
  const std::string svg = to_svg(chart);
  EXPECT_EQ(svg, to_svg(chart));
  const std::string number = SvgReader(svg).all("circle", "mark").at(0).attributes.at("cx");
  EXPECT_LE(number.size() - number.find('.'), 3U) << number;
}

TEST(LineChart, an_empty_chart_is_drawn) {
  const SvgReader empty(to_svg({}));
  EXPECT_TRUE(empty.all("path", "line").empty());
  Chart chart = powers(LineStyle::line);
  chart.series[0].points = {{nan, nan}};
  EXPECT_TRUE(SvgReader(to_svg(chart)).all("text", "label").empty());
  // A single point has no line, so it is marked in any style.
  chart.series[0].points = {{5, 5}};
  EXPECT_EQ(SvgReader(to_svg(chart)).all("circle", "mark").size(), 1U);
}

TEST(LineChart, groups_have_their_colours_and_markers_their_shapes) {
  Chart chart = many(7, "m");
  for (ChartSeries& series : chart.series) {
    series.style = LineStyle::points;
    series.marker = series.group;
  }
  std::set<std::string> fills;
  const SvgReader svg(to_svg(chart));
  const auto circles = svg.all("circle", "mark");
  const auto others = svg.all("path", "mark");
  for (const auto& marks : {circles, others})
    for (const SvgElement& mark : marks)
      fills.insert(mark.attributes.at("fill"));
  EXPECT_EQ(fills.size(), 7U);
  EXPECT_EQ(circles.size(), 2U * 2);  // markers 0 and 4, of two points
  EXPECT_EQ(others.size(), 5U * 2);
}

}  // namespace
}  // namespace calpe::tools
