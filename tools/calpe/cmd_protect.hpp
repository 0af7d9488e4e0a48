// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe protect` makes shards of a file, a folder or standard input.
void add_protect_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
