// SPDX-License-Identifier: Apache-2.0
// CALPE_DUMP=DIR: writes programs, source code and machine code to a directory for inspection.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace calpe {

// True if the variable is set. Check it before formatting an expensive dump.
bool is_dumping();

// Writes <dir>/<process>-<number>-<name>, numbered in order: a new file, readable by its owner
// only, in a directory that only its owner may write to. A failed dump is not an error; the log
// reports the reason once.
void dump(std::string_view name, std::span<const std::byte> content);
void dump(std::string_view name, std::string_view content);

}  // namespace calpe
