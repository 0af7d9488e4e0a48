// SPDX-License-Identifier: Apache-2.0
// The axes of a chart: what they span, where values stand on them, and their ticks.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace calpe::tools {

struct ChartRange {
  double low = 0;
  double high = 0;
  bool operator==(const ChartRange&) const = default;
};

// Finite, and positive on a logarithmic axis; neither as good as infinite nor, there, as zero.
bool is_drawable(double value, bool is_log);

enum class RangeEnds : std::uint8_t {
  padded,   // a little beyond the values
  rounded,  // at nice numbers
};
// What holds all drawable values; some range when there are none.
ChartRange range_of(std::span<const double> values, bool is_log, RangeEnds ends);

struct AxisTick {
  double value = 0;
  std::string label;
};
struct AxisTicks {
  std::vector<AxisTick> major;
  std::vector<double> minor;  // lines without a label
};
// Linear: 1, 2 or 5 times a power of ten apart. Logarithmic: powers of ten, and 2 and 5 times these
// when there are few decades.
AxisTicks ticks_in(const ChartRange& range, bool is_log);
// Where they are asked for; those beyond the range are left out.
AxisTicks ticks_at(std::span<const double> values, const ChartRange& range);

// From values to pixels; low_pixel may be the larger.
class AxisScale {
 public:
  AxisScale(const ChartRange& range, bool is_log, double low_pixel, double high_pixel);
  double pixel(double value) const;
  double low_pixel() const noexcept { return low_pixel_; }
  double high_pixel() const noexcept { return high_pixel_; }

 private:
  double transformed(double value) const;

  bool is_log_;
  double low_pixel_;
  double high_pixel_;
  double low_;
  double span_;
};

// At most so many digits behind the point, and no zeros at the end: "12.5".
std::string decimal(double value, int digits);
// 25000: "25 000" with thin spaces, 1e9: "10⁹", 2e-7: "2·10⁻⁷".
std::string number_label(double value);

}  // namespace calpe::tools
