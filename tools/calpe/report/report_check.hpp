// SPDX-License-Identifier: Apache-2.0
// Is a run file to be believed? Every rate in it must follow from bytes and seconds that stand
// beside it, its bytes from the shape, and nobody may be faster than the traffic alone.
//
// Which figures belong together is told by their names: `<a>gb_per_s<b>` is `<a>bytes<b>` over
// `<a>seconds<b>`. The bytes may stand under a shorter name, as those of the row itself:
// roof_plain_gb_per_s takes roof_bytes, gb_per_s_isal takes bytes.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace calpe::tools {

// More than that above the roof is no measurement. The roof is a kernel too, good to some percent.
inline constexpr double roof_margin = 1.10;
// Between a rate and bytes over seconds: both are rounded to five digits.
inline constexpr double rate_tolerance = 1e-3;

// What is wrong, each naming its row; empty when nothing is. Fields that are missing are wrong,
// too: a rate without seconds cannot be believed.
std::vector<std::string> find_impossible(const nlohmann::ordered_json& run);

// "encode 10+4 64 KiB", with what tells it from others of the run.
std::string name_row(const nlohmann::ordered_json& row);

}  // namespace calpe::tools
