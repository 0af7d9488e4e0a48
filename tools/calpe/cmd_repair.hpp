// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe repair` makes a damaged set whole again, in place and onto replacements.
void add_repair_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
