// SPDX-License-Identifier: Apache-2.0
// The command line of nbdkit.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace calpe::nbd {

std::vector<std::string> command_line();  // of this process
// True if the arguments contain -r or one of its long forms.
bool is_read_only_command(std::span<const std::string> arguments);
// The path after -U or one of its long forms; empty if there is none, or nbdkit chooses it ("-").
std::string unix_socket_of(std::span<const std::string> arguments);

}  // namespace calpe::nbd
