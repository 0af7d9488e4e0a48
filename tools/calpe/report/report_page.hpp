// SPDX-License-Identifier: Apache-2.0
// The page of `calpe report`: one self-contained HTML file, without network access or scripts.
#pragma once
#include <string>
#include <vector>

#include "calpe/report/report_charts.hpp"
#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

std::string report_page(const Json& run, const std::vector<NamedChart>& charts);

}  // namespace calpe::tools
