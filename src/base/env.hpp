// SPDX-License-Identifier: Apache-2.0
// The only place where the library reads the environment. docs: the table of CALPE_* variables.
//
// A privileged process has more rights than the user who started it: its program file is setuid or
// setgid, or has capabilities. That user wrote its environment, so no variable is seen there.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace calpe {

// A copy of the variable's value; nothing when it is unset or empty, or the process is privileged.
std::optional<std::string> environment(const char* name);

// The same where an empty value says something of its own; nothing when the variable is unset.
std::optional<std::string> environment_or_empty(const char* name);

// The value itself, without allocating: good until the environment is changed. Empty when unset.
std::string_view environment_view(const char* name) noexcept;

// Such a process runs no other program and loads no driver: both read the environment themselves.
bool is_privileged() noexcept;

}  // namespace calpe
