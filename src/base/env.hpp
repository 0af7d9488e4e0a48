// SPDX-License-Identifier: Apache-2.0
// The only code of the library that reads the environment.
//
// A privileged process (setuid, setgid or with capabilities) has more rights than the user who
// started it. That user controls its environment, so these functions then return no variable.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace calpe {

// Returns a copy of the value, or nullopt if it is unset or empty or the process is privileged.
std::optional<std::string> environment(const char* name);

// The same, but returns an empty value as such.
std::optional<std::string> environment_or_empty(const char* name);

// Returns the value without allocating; valid until the environment changes. Empty if unset.
std::string_view environment_view(const char* name) noexcept;

// A privileged process must not run programs or load drivers: both read the environment.
bool is_privileged() noexcept;

}  // namespace calpe
