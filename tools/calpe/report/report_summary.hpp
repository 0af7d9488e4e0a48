// SPDX-License-Identifier: Apache-2.0
// What a run says, in words: what to use on this machine for which shape.
#pragma once
#include <string>
#include <vector>

#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

// Sentences, the advice first. What was not measured is said to be so.
std::vector<std::string> summarize(const Json& run);

}  // namespace calpe::tools
