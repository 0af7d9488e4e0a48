// SPDX-License-Identifier: Apache-2.0
// Defines passes and the loop that runs and proves them. pipeline.cpp lists them in order.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/linear_map.hpp"
#include "ir/program.hpp"
#include "opt/optimise.hpp"

namespace calpe::opt {

struct Job {
  const gf::BitMatrix& map;  // map of the original program
  Budget budget = Budget::standard;
  std::uint64_t seed = 1;
};

// Returns a program with the same map; accepted only if it has no more XORs than before.
struct Pass {
  std::string_view name;
  ir::Program (*run)(const ir::Program& program, const Job& job);
};

// fewest_xors with other passes, for tests that need wrong ones.
Result<ir::Program> run_passes(const ir::Program& program, std::span<const Pass> passes,
                               const Options& options);

}  // namespace calpe::opt
