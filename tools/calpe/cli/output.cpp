// SPDX-License-Identifier: Apache-2.0
#include "calpe/cli/output.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <fmt/format.h>

namespace calpe::tools {

namespace {

constexpr std::size_t listed_max = 10;

}  // namespace

void print_json(const nlohmann::ordered_json& json) {
  // File names need not be UTF-8, but JSON must be.
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::string count_text(std::uint64_t count, std::string_view what) {
  if (count == 1) return fmt::format("1 {}", what);
  if (what.ends_with('y')) return fmt::format("{} {}ies", count, what.substr(0, what.size() - 1));
  return fmt::format("{} {}s", count, what);
}

std::string list_text(const std::vector<std::uint64_t>& numbers, std::uint64_t count) {
  const std::size_t listed = std::min(numbers.size(), listed_max);
  std::string out = fmt::format(
      "{}",
      fmt::join(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(listed), ", "));
  if (count > listed) out += fmt::format(" and {} more", count - listed);
  return out;
}

std::string utc_text(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts = {};
  if (gmtime_r(&time, &parts) == nullptr) return {};
  std::array<char, 64> out = {};
  return {out.data(), std::strftime(out.data(), out.size(), "%Y-%m-%d %H:%M:%S", &parts)};
}

}  // namespace calpe::tools
