// SPDX-License-Identifier: Apache-2.0
// The optimiser: finds a program with the same linear map and the fewest XORs.
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

// Work is counted in steps, not seconds, so a seed gives the same program everywhere. Approximate
// times of encoders over GF(2^8): 10+4 in 0.2 ms, 0.9 s and 14 s; 20+10 in 4 ms, 9 s and 140 s.
enum class Budget : std::uint8_t { fast, standard, thorough };

struct Options {
  Budget budget = Budget::standard;
  std::uint64_t seed = 1;
  std::vector<std::string> disabled_passes = {};  // names as listed by pass_names()
  // Called after each pass with its name, the program and the seconds taken. May be empty.
  std::function<void(std::string_view pass, const ir::Program& program, double seconds)> observe =
      {};
};

// Returns the program with the fewest two-input XORs that the budget finds, with the same inputs,
// outputs and exact linear map, and never more XORs than given. Compares the map after every pass.
// Fails with invalid_argument for an unsound program, the gf dialect or an unknown pass. Fails with
// compile_failed, naming the pass, if a pass changed the map: a bug, but never a wrong program.
// Thread-safe.
Result<ir::Program> fewest_xors(const ir::Program& program, const Options& options = {});

std::span<const std::string_view> pass_names();  // in the order they run

}  // namespace calpe::opt
