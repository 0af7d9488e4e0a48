// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe add-parity` raises the number of parity shards of a set.
void add_add_parity_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
