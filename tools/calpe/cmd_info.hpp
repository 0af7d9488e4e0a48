// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe info` says which sets are in some folders and what is in them.
void add_info_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
