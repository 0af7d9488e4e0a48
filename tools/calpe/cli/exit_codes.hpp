// SPDX-License-Identifier: Apache-2.0
// Exit codes, the same for every verb (docs/adr/0022-exit-codes.md).
#pragma once
#include <calpe/result.hpp>

namespace calpe::tools {

inline constexpr int exit_ok = 0;
inline constexpr int exit_not_ok = 1;  // the answer is no, or data is damaged but repairable
inline constexpr int exit_lost = 2;    // data cannot be recovered or is not authentic
inline constexpr int exit_usage = 3;
inline constexpr int exit_system = 4;  // I/O failed, or a library, device or compiler is missing

int exit_code_of(ErrorCode code);

// Exit codes as the footer of --help shows them.
inline constexpr const char* exit_codes_help =
    "Exit codes: 0 done, 1 the answer is no or data is damaged but repairable, "
    "2 data is lost, 3 wrong usage, 4 I/O error or missing component.";

}  // namespace calpe::tools
