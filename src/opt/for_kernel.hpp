// SPDX-License-Identifier: Apache-2.0
// The program that a register machine runs fastest, which is not the one with the fewest XORs: it
// counts three-input XORs as one, keeps values in registers and reads every input about once.
#pragma once
#include <cstdint>

#include <calpe/result.hpp>

#include "ir/cost.hpp"
#include "ir/program.hpp"

namespace calpe::opt {

struct KernelOptions {
  ir::CostModel model = {};
  // Programs tried: 1 where a decoder is waited for, more for an encoder that runs for years.
  std::size_t trials = 1;
  std::uint64_t seed = 1;
};

// Same inputs, outputs and linear map, which is verified. Deterministic. xor dialect.
Result<ir::Program> for_kernel(const ir::Program& program, const KernelOptions& options);

// Estimated cycles of one block on a machine of this kind; what for_kernel makes small.
double kernel_cycles(const ir::Program& program, const ir::CostModel& model);

}  // namespace calpe::opt
