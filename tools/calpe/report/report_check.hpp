// SPDX-License-Identifier: Apache-2.0
// Checks a run file for consistency: every rate must match its bytes and seconds, bytes must match
// the shape, and no rate may exceed the memory limit (roof).
//
// Names tell which fields belong together: `<a>gb_per_s<b>` is `<a>bytes<b>` over `<a>seconds<b>`.
// The bytes may have a shorter name: roof_plain_gb_per_s uses roof_bytes, gb_per_s_isal uses bytes.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace calpe::tools {

// Tolerance above the roof, which is itself measured only to a few percent.
inline constexpr double roof_margin = 1.10;
// Tolerance between a rate and bytes over seconds; both are rounded to five digits.
inline constexpr double rate_tolerance = 1e-3;

// One message per problem, naming its row; empty if there are none. A rate without seconds is a
// problem, too.
std::vector<std::string> find_impossible(const nlohmann::ordered_json& run);

// "encode 10+4 64 KiB", plus whatever else makes it unique in the run.
std::string name_row(const nlohmann::ordered_json& row);

}  // namespace calpe::tools
