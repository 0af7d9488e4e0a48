// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// `calpe codes` lists the profiles; `calpe codes check` proves one or names a loss that kills it.
void add_codes_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
