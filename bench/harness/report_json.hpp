// SPDX-License-Identifier: Apache-2.0
// The report for programs. Fields are only ever added: dashboards read them by name.
// docs/benchmarking.md names every one.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "bench/harness/report.hpp"

namespace calpe::bench {

using Json = nlohmann::ordered_json;

Json to_json(const Report& report);

// One row of it.
Json row_json(const Report& report, const Row& row);

// To five digits, which are more than a measurement has.
double rounded(double value);

// Indented, but each row on one line: a run has hundreds of them.
std::string json_text(const Json& json);

}  // namespace calpe::bench
