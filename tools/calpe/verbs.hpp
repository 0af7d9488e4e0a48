// SPDX-License-Identifier: Apache-2.0
// The verbs of the command, each in its own cmd_*.cpp. Each registers itself with the app; its
// callback sets the exit code.
#pragma once
#include <CLI/CLI.hpp>

namespace calpe::tools {

// Heading of the verbs for files, arrays and Ceph in calpe --help.
inline constexpr const char* files_group = "Files, block devices, Ceph";

void add_add_parity_command(CLI::App& app, int& exit_code);
void add_array_command(CLI::App& app, int& exit_code);
void add_bench_command(CLI::App& app, int& exit_code);
void add_ceph_scrub_command(CLI::App& app, int& exit_code);
void add_codes_command(CLI::App& app, int& exit_code);
void add_devices_command(CLI::App& app, int& exit_code);
void add_durability_command(CLI::App& app, int& exit_code);
void add_equations_command(CLI::App& app, int& exit_code);
void add_forget_command(CLI::App& app, int& exit_code);
void add_identify_command(CLI::App& app, int& exit_code);
void add_info_command(CLI::App& app, int& exit_code);
void add_protect_command(CLI::App& app, int& exit_code);
void add_remote_command(CLI::App& app, int& exit_code);
void add_repair_command(CLI::App& app, int& exit_code);
void add_report_command(CLI::App& app, int& exit_code);
void add_reram_command(CLI::App& app, int& exit_code);
void add_restore_command(CLI::App& app, int& exit_code);
void add_selftest_command(CLI::App& app, int& exit_code);
void add_update_command(CLI::App& app, int& exit_code);
void add_verify_command(CLI::App& app, int& exit_code);

}  // namespace calpe::tools
