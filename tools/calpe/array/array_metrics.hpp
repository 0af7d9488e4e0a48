// SPDX-License-Identifier: Apache-2.0
// Formats the status of an array for Prometheus.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace calpe::tools {

// Text format 0.0.4, from the answer to the request "status". docs/array.md lists the metrics.
std::string array_metrics(const nlohmann::ordered_json& status);

}  // namespace calpe::tools
