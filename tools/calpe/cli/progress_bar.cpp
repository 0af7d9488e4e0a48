// SPDX-License-Identifier: Apache-2.0
#include "calpe/cli/progress_bar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace calpe::tools {

namespace {

constexpr std::size_t bar_width_max = 30;
constexpr std::size_t bar_width_min = 5;

std::string time_text(double seconds) {
  constexpr double longest = 359999;  // 99:59:59
  const auto whole = static_cast<unsigned>(std::lround(std::clamp(seconds, 0.0, longest)));
  const unsigned hours = whole / 3600;
  const unsigned minutes = whole / 60 % 60;
  if (hours == 0) return fmt::format("{}:{:02}", minutes, whole % 60);
  return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
}

std::string bar_of(double part, std::size_t width) {
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(width));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 7> units = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // Avoid printing 999.96 as 1000.0.
  for (; value >= 999.95 && unit + 1 < units.size(); ++unit)
    value /= 1000;
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string bar_line(const std::string& what, const ProgressState& state, std::size_t columns) {
  const auto done_here = static_cast<double>(state.done - std::min(state.resumed, state.done));
  const double rate = state.seconds > 0 ? done_here / state.seconds : 0;
  const std::string rate_text = bytes_text(static_cast<std::uint64_t>(rate)) + "/s";
  if (state.all == 0)
    return fmt::format("{}  {}  {}", what, bytes_text(state.done), rate_text).substr(0, columns);
  const std::uint64_t done = std::min(state.done, state.all);
  const double part = static_cast<double>(done) / static_cast<double>(state.all);
  std::string numbers = fmt::format("{:3} %  {}", static_cast<unsigned>(100 * part), rate_text);
  if (rate > 0)
    numbers += fmt::format("  {} left", time_text(static_cast<double>(state.all - done) / rate));
  // Two brackets and two gaps of two spaces.
  const std::size_t taken = what.size() + numbers.size() + 6;
  const std::size_t width = columns > taken ? std::min(columns - taken, bar_width_max) : 0;
  if (width < bar_width_min) return fmt::format("{}  {}", what, numbers).substr(0, columns);
  return fmt::format("{}  {}  {}", what, bar_of(part, width), numbers);
}

}  // namespace calpe::tools
