// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe update` brings a set of shards to the present state of its files.
void add_update_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
