// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe array` makes and looks after arrays: block devices over members of which m may be lost.
void add_array_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
