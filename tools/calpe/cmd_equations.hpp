// SPDX-License-Identifier: Apache-2.0
// `calpe equations`: codes as XOR equations, optimised, checked, drawn and emitted.
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// Adds the subcommand. When it runs it sets exit_code: 0 done, 1 the answer is no, 2 usage.
void add_equations_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
