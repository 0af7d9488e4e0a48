// SPDX-License-Identifier: Apache-2.0
// Makes untrusted bytes, such as file names, safe to print.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace calpe {

// Escapes control characters, bytes that are not UTF-8, and marks that reverse the order of a line,
// as \x1b. Longer text ends in "...".
std::string printable(std::string_view text, std::size_t bytes_max = std::string_view::npos);

}  // namespace calpe
