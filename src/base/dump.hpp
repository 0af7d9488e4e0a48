// SPDX-License-Identifier: Apache-2.0
// CALPE_DUMP=folder: what the library makes on the way (programs, sources, machine code) is written
// there, for people to look at.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace calpe {

// True when the variable is set: what costs time to print is printed only then.
bool is_dumping();

// <folder>/<process>-<number>-<name>, numbered in the order of writing: new files, for the owner
// alone, in a directory that only its owner may write to. A dump that cannot be written is no
// error, as it is for looking only; the log tells once why.
void dump(std::string_view name, std::span<const std::byte> content);
void dump(std::string_view name, std::string_view content);

}  // namespace calpe
