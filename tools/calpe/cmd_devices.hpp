// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe devices` lists every backend of this build, usable here or not, why not, and how fast;
// --predict says how fast a GPU out of a file should be.
void add_devices_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
