// SPDX-License-Identifier: Apache-2.0
// How --help and wrong usage look, for every verb: operands by what they are, limits and defaults
// behind the description, one line per verb in the overview.
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// Before verbs are added: they inherit it.
void set_help_format(CLI::App& app);

}  // namespace calpe::tools
