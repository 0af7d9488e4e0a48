// SPDX-License-Identifier: Apache-2.0
// Bytes that anybody may have written, for people: file names, say.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace calpe {

// Control characters, which a terminal would obey, as \x1b, and so are bytes that are no UTF-8 and
// marks that reverse the order of a line; what is longer ends in "...".
std::string printable(std::string_view text, std::size_t bytes_max = std::string_view::npos);

}  // namespace calpe
