// SPDX-License-Identifier: Apache-2.0
#include "calpe/charts/axis_scale.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace calpe::tools {

namespace {

constexpr double slack = 1e-9;  // log10 and division are not exact

int exponent_of(double value) {
  return static_cast<int>(std::floor(std::log10(value) + slack));
}

double power_of_ten(int exponent) {
  return std::pow(10.0, exponent);
}

// The smallest 1, 2 or 5 times a power of ten that is at least `value`.
double nice_above(double value) {
  const double power = power_of_ten(exponent_of(value));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= value * (1 - slack)) return factor * power;
  return 10 * power;
}

double nice_below(double value) {
  const double power = power_of_ten(exponent_of(value));
  for (const double factor : {5.0, 2.0})
    if (factor * power <= value * (1 + slack)) return factor * power;
  return power;
}

double linear_step(const ChartRange& range) {
  constexpr double intervals = 7;  // at most
  return nice_above((range.high - range.low) / intervals);
}

constexpr double few_decades = 3.1;

double decades_in(const ChartRange& range) {
  return std::log10(range.high) - std::log10(range.low);  // the quotient might be infinite
}

ChartRange log_range(const ChartRange& data, RangeEnds ends) {
  if (ends == RangeEnds::padded) {
    const double factor = data.high > data.low ? std::pow(10.0, 0.025 * decades_in(data)) : 2;
    return {data.low / factor, data.high * factor};
  }
  ChartRange rounded = {nice_below(data.low), nice_above(data.high)};
  if (rounded.low == rounded.high) rounded = {rounded.low / 10, rounded.high * 10};
  if (decades_in(rounded) <= few_decades) return rounded;
  // Keep data at a power of ten off the axis line.
  const double bottom = power_of_ten(exponent_of(data.low));
  const int top = exponent_of(data.high);
  return {data.low < bottom * 1.1 ? bottom / 2 : bottom,
          power_of_ten(data.high > power_of_ten(top) * (1 + slack) ? top + 1 : top)};
}

ChartRange linear_range(ChartRange data, RangeEnds ends) {
  // Nearly equal doubles have no steps between them.
  const double size = std::max(std::abs(data.low), std::abs(data.high));
  if (data.high - data.low <= 1e-9 * size || size == 0) {
    const double way = size == 0 ? 1 : 0.1 * size;
    data = {data.low - way, data.high + way};
  }
  if (ends == RangeEnds::padded) {
    const double padding = 0.025 * (data.high - data.low);
    return {data.low - padding, data.high + padding};
  }
  // Start at zero unless that squeezes the data into the upper half.
  if (data.low > 0 && data.low < data.high / 2) data.low = 0;
  const double step = linear_step(data);
  return {std::floor(data.low / step + slack) * step, std::ceil(data.high / step - slack) * step};
}

std::string power_label(int exponent) {
  constexpr std::array<std::string_view, 10> digits = {"⁰", "¹", "²", "³", "⁴",
                                                       "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (exponent == 0 || exponent == 1) return exponent == 0 ? "1" : "10";
  std::string out = exponent < 0 ? "10⁻" : "10";
  for (const char c : std::to_string(std::abs(exponent)))
    out += digits[static_cast<std::size_t>(c - '0')];
  return out;
}

AxisTicks log_ticks(const ChartRange& range) {
  AxisTicks ticks;
  const double decades = decades_in(range);
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / 10)));
  const auto is_inside = [&](double value) {
    return value >= range.low * (1 - slack) && value <= range.high * (1 + slack);
  };
  for (int e = exponent_of(range.low); e <= exponent_of(range.high); ++e) {
    for (int factor = 1; factor < 10; ++factor) {
      const double value = factor * power_of_ten(e);
      if (!is_inside(value)) continue;
      const bool is_labelled = decades <= few_decades ? factor == 1 || factor == 2 || factor == 5
                                                      : factor == 1 && e % stride == 0;
      if (is_labelled)
        ticks.major.push_back(
            {value, decades <= few_decades ? number_label(value) : power_label(e)});
      else if (stride == 1 || factor == 1)
        ticks.minor.push_back(value);
    }
  }
  return ticks;
}

AxisTicks linear_ticks(const ChartRange& range) {
  AxisTicks ticks;
  const double step = linear_step(range);
  const double last = std::floor(range.high / step + slack);
  for (double i = std::ceil(range.low / step - slack); i <= last; ++i)
    ticks.major.push_back({i * step, number_label(i * step)});
  return ticks;
}

}  // namespace

bool is_drawable(double value, bool is_log) {
  constexpr double far = 1e290;  // the axis extends a little further and must stay finite
  return std::abs(value) <= far && (!is_log || value >= 1 / far);
}

ChartRange range_of(std::span<const double> values, bool is_log, RangeEnds ends) {
  ChartRange data;
  bool is_empty = true;
  for (const double value : values) {
    if (!is_drawable(value, is_log)) continue;
    data.low = is_empty ? value : std::min(data.low, value);
    data.high = is_empty ? value : std::max(data.high, value);
    is_empty = false;
  }
  if (is_empty) return is_log ? ChartRange{1, 10} : ChartRange{0, 1};
  return is_log ? log_range(data, ends) : linear_range(data, ends);
}

AxisTicks ticks_in(const ChartRange& range, bool is_log) {
  return is_log ? log_ticks(range) : linear_ticks(range);
}

AxisTicks ticks_at(std::span<const double> values, const ChartRange& range) {
  AxisTicks ticks;
  for (const double value : values)
    if (value >= range.low && value <= range.high)
      ticks.major.push_back({value, number_label(value)});
  return ticks;
}

AxisScale::AxisScale(const ChartRange& range, bool is_log, double low_pixel, double high_pixel)
    : is_log_(is_log),
      low_pixel_(low_pixel),
      high_pixel_(high_pixel),
      low_(transformed(range.low)),
      span_(transformed(range.high) - low_) {}

double AxisScale::transformed(double value) const {
  return is_log_ ? std::log10(value) : value;
}

double AxisScale::pixel(double value) const {
  return low_pixel_ + (transformed(value) - low_) / span_ * (high_pixel_ - low_pixel_);
}

std::string decimal(double value, int digits) {
  std::array<char, 400> buffer{};  // the largest double has 309 digits
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          std::chars_format::fixed, digits);
  std::string out(buffer.data(), end);
  if (out.find('.') != std::string::npos) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
  }
  return out == "-0" ? "0" : out;
}

std::string number_label(double value) {
  const double size = std::abs(value);
  if (size != 0 && (size >= 999'999.5 || size < 0.000'999)) {
    const int exponent = exponent_of(size);
    const std::string mantissa = decimal(value / power_of_ten(exponent), 2);
    const std::string power = power_label(exponent);
    if (mantissa == "1") return power;
    return mantissa == "-1" ? "-" + power : mantissa + "·" + power;
  }
  std::string out = decimal(value, size < 1 ? 6 : 3);
  const std::size_t sign = value < 0 ? 1 : 0;
  const std::size_t whole = std::min(out.find('.'), out.size());
  if (whole - sign > 4) out.insert(whole - 3, "\u2009");
  return out;
}

}  // namespace calpe::tools
