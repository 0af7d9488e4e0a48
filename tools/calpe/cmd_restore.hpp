// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe restore` gives back what was protected, as far as enough of it is left.
void add_restore_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
