// SPDX-License-Identifier: Apache-2.0
// Parses and validates a run file, which is untrusted input.
#pragma once
#include <string_view>

#include <calpe/result.hpp>

#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

// Parses the content of a run file. Fails with invalid_argument, naming the field, unless it has
// the structure that report_*.cpp rely on: rows are lists of objects, numbers can be drawn, counts
// are whole numbers, nesting and list lengths are limited. All strings and keys in the result are
// printable and safe for a terminal.
Result<Json> parse_run(std::string_view text);

}  // namespace calpe::tools
