// SPDX-License-Identifier: Apache-2.0
// Text in charts: how wide it will be, where it is broken, and labels that must not overlap.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace calpe::tools {

// For XML: its five characters as entities; control characters and what is no UTF-8 as '?'.
std::string escape_xml(std::string_view text);

// In pixels, of a sans-serif font that nobody knows here: rather too much than too little.
double text_width(std::string_view text, double font_size);

// Lines no wider than `width`, broken at spaces; a longer word stands alone.
std::vector<std::string> wrap_text(std::string_view text, double font_size, double width);

// Moves positions apart, as little as possible (least squares), so that neighbours are `distance`
// apart and all are in [low, high] if there is room for that. Equal ones keep their order.
std::vector<double> spread(const std::vector<double>& wanted, double distance, double low,
                           double high);

}  // namespace calpe::tools
