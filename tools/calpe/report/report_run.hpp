// SPDX-License-Identifier: Apache-2.0
// A run file, which anybody may have written, before anything is made of it.
#pragma once
#include <string_view>

#include <calpe/result.hpp>

#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

// The run in the text of a file. Fails with invalid_argument, naming the place, where it has not
// the structure that report_*.cpp rely on: lists of objects where rows are, numbers that charts can
// draw, whole numbers for counts, no more nesting and no longer lists than a run has. Every text
// and key in the result is printable: it may go to a terminal as it is.
Result<Json> parse_run(std::string_view text);

}  // namespace calpe::tools
