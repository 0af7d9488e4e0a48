// SPDX-License-Identifier: Apache-2.0
// Energy, if its source is known.
#pragma once
#include <optional>
#include <string_view>

#include "reram/counters.hpp"
#include "reram/parameters.hpp"

namespace calpe::reram {

inline constexpr std::string_view energy_not_modelled = "not modelled";

// Joules from read_word_pj and write_word_pj. nullopt unless both come from NVSim or the user: the
// paper has none, and none can be fitted. A lower bound: excludes converters, word-line drivers,
// bus and controller, and many active rows draw more than the single row of NVSim's read.
std::optional<double> energy_joules(const Parameters& parameters, const Counters& counters);

}  // namespace calpe::reram
