// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe selftest`: are the backends of this machine right, and how fast. What somebody with a GPU
// runs once.
void add_selftest_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
