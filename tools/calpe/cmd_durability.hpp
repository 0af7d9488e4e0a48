// SPDX-License-Identifier: Apache-2.0
// `calpe durability`: how likely a code loses data on given devices, and what it costs.
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

void add_durability_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
