// SPDX-License-Identifier: Apache-2.0
// The only place where the library reads the environment. docs: the table of CALPE_* variables.
#pragma once
#include <optional>
#include <string>

namespace calpe {

// A copy of the variable's value; nothing when it is unset or empty.
std::optional<std::string> environment(const char* name);

// The same where an empty value says something of its own; nothing when the variable is unset.
std::optional<std::string> environment_or_empty(const char* name);

}  // namespace calpe
