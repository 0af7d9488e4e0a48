// SPDX-License-Identifier: Apache-2.0
// The optimiser: an xor program in, one with the same linear map and the fewest XORs out.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

#include "ir/program.hpp"

namespace calpe::opt {

// Work is counted in steps, never in seconds, so that a seed gives the same program everywhere.
// About, for encoders over GF(2^8): 10+4 in 0.2 ms, 0.9 s and 14 s; 20+10 in 4 ms, 9 s and 140 s.
enum class Budget : std::uint8_t { fast, standard, thorough };

struct Options {
  Budget budget = Budget::standard;
  std::uint64_t seed = 1;
  std::vector<std::string> disabled_passes = {};  // names as listed by pass_names()
  // Called after each pass with its name, the program and the seconds taken; may be empty.
  std::function<void(std::string_view pass, const ir::Program& program, double seconds)> observe =
      {};
};

// The program with the fewest two-input XORs that the budget finds: same inputs, outputs and exact
// linear map, never more XORs than given. The map is compared after every pass. Fails with
// invalid_argument for an unsound program, the gf dialect or an unknown pass, and with
// compile_failed, naming the pass, when one has changed the map: an error of ours, but never a
// wrong program. Any number of threads may call it.
Result<ir::Program> fewest_xors(const ir::Program& program, const Options& options = {});

std::span<const std::string_view> pass_names();  // in the order in which they run

}  // namespace calpe::opt
