// SPDX-License-Identifier: Apache-2.0
// `calpe reram`: the hybrid code in simulated ReRAM crossbars (Re-RAID).
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// Adds the subcommand. When it runs it sets exit_code: 0 done, 1 wrong bytes without noise or a
// loss that cannot be rebuilt, 2 usage.
void add_reram_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
