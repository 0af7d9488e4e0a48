// SPDX-License-Identifier: Apache-2.0
// The summary of a run: what to use on this machine for which shape.
#pragma once
#include <string>
#include <vector>

#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

// Sentences, the advice first. Lists what was not measured.
std::vector<std::string> summarize(const Json& run);

}  // namespace calpe::tools
