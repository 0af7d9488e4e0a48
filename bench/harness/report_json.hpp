// SPDX-License-Identifier: Apache-2.0
// The JSON report. Fields are only added, never renamed or removed. docs/benchmarking.md lists
// them.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "bench/harness/report.hpp"

namespace calpe::bench {

using Json = nlohmann::ordered_json;

Json to_json(const Report& report);

// One row of the report.
Json row_json(const Report& report, const Row& row);

// Rounds to five digits, more than a measurement has.
double rounded(double value);

// Indented, with each row on one line.
std::string json_text(const Json& json);

}  // namespace calpe::bench
