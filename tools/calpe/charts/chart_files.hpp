// SPDX-License-Identifier: Apache-2.0
// Writes charts to a directory.
#pragma once
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "calpe/charts/line_chart.hpp"

namespace calpe::tools {

struct NamedChart {
  std::string name;  // "wear.svg"
  Chart chart;
};

// Creates the directory and its parents, and replaces existing files. Returns the paths. Fails with
// ErrorCode::io, naming path and reason.
Result<std::vector<std::string>> write_charts(const std::string& folder,
                                              const std::vector<NamedChart>& charts);

}  // namespace calpe::tools
