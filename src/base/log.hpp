// SPDX-License-Identifier: Apache-2.0
// Log lines for the operator, such as a disabled device. Nothing is printed unless the caller or
// CALPE_LOG=stderr enables it.
#pragma once
#include <string>

namespace calpe::logging {

using Handler = void (*)(const char* line, void* user);

// nullptr disables logging. On return, the previous handler is not running and will not be called.
void set_handler(Handler handler, void* user) noexcept;

void write(const std::string& line) noexcept;

}  // namespace calpe::logging
