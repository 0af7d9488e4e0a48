// SPDX-License-Identifier: Apache-2.0
// Lines for whoever runs the program: a device was left, one was refused. Nothing is printed unless
// the caller or CALPE_LOG=stderr asks for it.
#pragma once
#include <string>

namespace calpe::logging {

using Handler = void (*)(const char* line, void* user);

// nullptr: none. When this returns, the one before is not running and will not be called again.
void set_handler(Handler handler, void* user) noexcept;

void write(const std::string& line) noexcept;

}  // namespace calpe::logging
