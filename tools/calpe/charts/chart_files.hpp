// SPDX-License-Identifier: Apache-2.0
// Charts into a folder.
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

// Over the files that are there; creates the folder and those above it. Returns their paths. Fails
// with ErrorCode::io, naming path and reason.
Result<std::vector<std::string>> write_charts(const std::string& folder,
                                              const std::vector<NamedChart>& charts);

}  // namespace calpe::tools
