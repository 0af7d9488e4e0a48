// SPDX-License-Identifier: Apache-2.0
// Finds the program that a device runs fastest, which is not the one with the fewest XORs. With
// values in registers, it counts a three-input XOR as one and reads every input about once. With
// values in memory, it shares only what is worth a write.
#pragma once
#include <cstdint>

#include <calpe/result.hpp>

#include "ir/cost.hpp"
#include "ir/program.hpp"

namespace calpe::opt {

struct KernelOptions {
  ir::CostModel model = {};
  // Rounds of the search: 1 for a decoder needed now, more for an encoder that is used for long.
  std::size_t rounds = 1;
  std::uint64_t seed = 1;
};

// Larger programs are not changed: in registers they would not fit the instruction cache, in memory
// there is little worth sharing, and planning should not take longer.
inline constexpr std::size_t terms_max = std::size_t{1} << 15U;

// Returns a program with the same inputs, outputs and linear map, which is verified. Deterministic.
// Needs a sound xor program. A machine with more than ir::registers_max registers divides programs
// itself (within_registers.hpp); for it, the program is not changed.
Result<ir::Program> for_kernel(const ir::Program& program, const KernelOptions& options);

// Estimates the cycles of one block on a machine with registers; for_kernel minimises this.
double kernel_cycles(const ir::Program& program, const ir::CostModel& model);

}  // namespace calpe::opt
