// SPDX-License-Identifier: Apache-2.0
// How nbdkit was started.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace calpe::nbd {

std::vector<std::string> command_line();  // of this process
// Whether it has nbdkit's -r.
bool is_read_only_command(std::span<const std::string> arguments);

}  // namespace calpe::nbd
