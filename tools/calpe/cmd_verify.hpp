// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe verify` reads every block of a set and says what is damaged.
void add_verify_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
