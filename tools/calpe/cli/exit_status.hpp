// SPDX-License-Identifier: Apache-2.0
// What a script sees of a command line that cannot be understood; verbs of files have their own
// (files_common.hpp).
#pragma once

namespace calpe::tools {

inline constexpr int exit_usage = 2;

}  // namespace calpe::tools
