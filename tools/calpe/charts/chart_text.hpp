// SPDX-License-Identifier: Apache-2.0
// Text in charts: estimated width, line breaks, and placement of labels without overlap.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace calpe::tools {

// Escapes the five special characters of XML; control characters and invalid UTF-8 become '?'.
std::string escape_xml(std::string_view text);

// Estimated width in pixels for an unknown sans-serif font; rather too large than too small.
double text_width(std::string_view text, double font_size);

// Breaks text at spaces into lines of at most `width`; a longer word gets its own line.
std::vector<std::string> wrap_text(std::string_view text, double font_size, double width);

// Moves positions as little as possible (least squares) so that neighbours are at least `distance`
// apart, within [low, high] if there is room. Equal positions keep their order.
std::vector<double> spread(const std::vector<double>& wanted, double distance, double low,
                           double high);

}  // namespace calpe::tools
