// SPDX-License-Identifier: Apache-2.0
// Cost figures for tests, reports and the optimiser.
#pragma once
#include <cstddef>

#include "ir/program.hpp"

namespace calpe::ir {

struct Cost {
  std::size_t multiplications = 0;  // by coefficients other than 1
  std::size_t xors = 0;             // two-input: terms - 1 per instruction
  std::size_t xors3 = 0;            // with three-input XOR: ceil((terms - 1) / 2) per instruction
  std::size_t loads = 0;            // operands read; each instruction loads all of its own
  std::size_t stores = 0;           // instructions
  // Maximum number of values held at once, in program order: outputs and temporaries still to be
  // read, and the one being written. A value read for the last time is replaced by the target.
  // Inputs, and outputs that nothing reads later, do not count.
  std::size_t live_values = 0;
  bool operator==(const Cost&) const = default;
};

// `program` must be sound (verify.hpp).
Cost cost(const Program& program);

// Strengths of a device, read by the optimiser's passes.
struct CostModel {
  // True: values stay in registers while the whole program runs over a narrow block. False: each
  // instruction runs over a wide block, and every value goes through memory.
  bool values_in_registers = false;
  std::size_t registers = 16;
  std::size_t vector_bytes = 16;
  std::size_t cache_bytes = 32 * 1024;
  bool three_input_xor = false;
};

}  // namespace calpe::ir
