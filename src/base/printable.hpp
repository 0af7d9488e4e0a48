// SPDX-License-Identifier: Apache-2.0
// Bytes that anybody may have written, for people: file names, say.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace calpe {

// Control characters, which a terminal would obey, as \x1b; what is longer ends in "...".
std::string printable(std::string_view text, std::size_t bytes_max = std::string_view::npos);

}  // namespace calpe
