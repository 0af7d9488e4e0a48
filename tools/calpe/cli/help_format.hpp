// SPDX-License-Identifier: Apache-2.0
// Format of --help and of usage errors, for every verb: operand placeholders, limits and defaults
// after the description, one line per verb in the overview.
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// Call before adding verbs: they inherit the format.
void set_help_format(CLI::App& app);

}  // namespace calpe::tools
