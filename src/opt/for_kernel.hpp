// SPDX-License-Identifier: Apache-2.0
// The program that a device runs fastest, which is not the one with the fewest XORs: where values
// stay in registers it counts three-input XORs as one and reads every input about once; where they
// lie in memory it shares only what pays for being written.
#pragma once
#include <cstdint>

#include <calpe/result.hpp>

#include "ir/cost.hpp"
#include "ir/program.hpp"

namespace calpe::opt {

struct KernelOptions {
  ir::CostModel model = {};
  // Rounds of the search: 1 where a decoder is waited for, more for an encoder that runs for years.
  std::size_t rounds = 1;
  std::uint64_t seed = 1;
};

// A program of more terms is left as it is: in registers it would not fit the instruction cache,
// in memory there is little to share without writing too much, and its plan should not take longer.
inline constexpr std::size_t terms_max = std::size_t{1} << 15U;

// Same inputs, outputs and linear map, which is verified. Deterministic. xor dialect, sound.
// A machine of more than ir::registers_max registers is a device that cuts programs up by itself
// (within_registers.hpp), beside its work: for it the program stays as it is.
Result<ir::Program> for_kernel(const ir::Program& program, const KernelOptions& options);

// Estimated cycles of one block on a machine of registers; what for_kernel makes small.
double kernel_cycles(const ir::Program& program, const ir::CostModel& model);

}  // namespace calpe::opt
