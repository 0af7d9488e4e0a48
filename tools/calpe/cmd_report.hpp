// SPDX-License-Identifier: Apache-2.0
// calpe report: a run file of `calpe bench` as a page and pictures.
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

void add_report_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
