// SPDX-License-Identifier: Apache-2.0
#include "calpe/durability/durability_number.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "base/text.hpp"

namespace calpe::tools {

namespace {

constexpr std::string_view prefixes = "KMGTPE";
// Smaller results of a device model say nothing about a real system (docs/durability.md).
constexpr double believable = 1e-11;

}  // namespace

Result<double> parse_number(std::string_view option, std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  bool is_good = error == std::errc() && std::isfinite(value);
  if (suffix == "%") {
    value /= 100;
  } else if (!suffix.empty() && suffix != "B") {
    const std::size_t power = prefixes.find(suffix[0]) + 1;  // npos + 1 is 0
    suffix.remove_prefix(1);
    const bool is_binary = suffix.starts_with('i');
    if (is_binary) suffix.remove_prefix(1);
    is_good = is_good && power != 0 && (suffix.empty() || suffix == "B");
    value *= std::pow(is_binary ? 1024.0 : 1000.0, static_cast<double>(power));
  }
  if (is_good) return value;
  return invalid(option, " is \"", text, "\"; expected a number such as 0.015, 1.5%, 20T or 1Mi");
}

std::string bytes_text(double bytes) {
  std::size_t power = 0;
  while (bytes >= 999.5 && power < prefixes.size()) {
    bytes /= 1000;
    ++power;
  }
  return fmt::format("{:.3g} {}B", bytes, power == 0 ? "" : std::string(1, prefixes[power - 1]));
}

std::string probability_text(double value) {
  if (value == 0) return "0";
  if (value < believable) return "< 1e-11";
  if (value < 0.001) return fmt::format("{:.2e}", value);
  return fmt::format("{:.3g} %", 100 * value);
}

}  // namespace calpe::tools
