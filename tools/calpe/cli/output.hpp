// SPDX-License-Identifier: Apache-2.0
// What every verb prints the same way: JSON, counts and lists.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace calpe::tools {

void print_json(const nlohmann::ordered_json& json);
// "3 files", "1 file"
std::string count_text(std::uint64_t count, std::string_view what);
// "0, 3, 7 and 20 more"
std::string list_text(const std::vector<std::uint64_t>& numbers, std::uint64_t count);
// "2026-11-18 20:31:55" in UTC, from seconds since 1970; empty if no calendar has the time.
std::string utc_text(std::int64_t seconds);

}  // namespace calpe::tools
