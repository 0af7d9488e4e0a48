// SPDX-License-Identifier: Apache-2.0
// Chart axes: range, mapping from values to pixels, and ticks.
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

// True for finite values of reasonable size; on a logarithmic axis they must be positive.
bool is_drawable(double value, bool is_log);

enum class RangeEnds : std::uint8_t {
  padded,   // slightly beyond the values
  rounded,  // round numbers
};
// A range that contains all drawable values; arbitrary if there are none.
ChartRange range_of(std::span<const double> values, bool is_log, RangeEnds ends);

struct AxisTick {
  double value = 0;
  std::string label;
};
struct AxisTicks {
  std::vector<AxisTick> major;
  std::vector<double> minor;  // lines without a label
};
// Linear: spaced by 1, 2 or 5 times a power of ten. Logarithmic: powers of ten, plus 2 and 5 times
// these if there are few decades.
AxisTicks ticks_in(const ChartRange& range, bool is_log);
// Ticks at given values; omits those outside the range.
AxisTicks ticks_at(std::span<const double> values, const ChartRange& range);

// Maps values to pixels; low_pixel may be greater than high_pixel.
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

// At most `digits` decimals, without trailing zeros: "12.5".
std::string decimal(double value, int digits);
// 25000: "25 000" with thin spaces, 1e9: "10⁹", 2e-7: "2·10⁻⁷".
std::string number_label(double value);

}  // namespace calpe::tools
