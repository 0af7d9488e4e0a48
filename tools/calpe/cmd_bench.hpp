// SPDX-License-Identifier: Apache-2.0
// `calpe bench`: how fast this machine codes, beside its limits and other libraries.
#pragma once
#include <CLI/CLI.hpp>

// Adds the subcommand. When it runs it sets exit_code: 0 done, 1 wrong bytes, 2 usage.
void add_bench_command(CLI::App& app, int& exit_code);
