// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe identify` says which code wrote shards, by this program or another.
void add_identify_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
