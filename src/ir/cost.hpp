// SPDX-License-Identifier: Apache-2.0
// Figures that tests, reports and the optimiser quote.
#pragma once
#include <cstddef>

#include "ir/program.hpp"

namespace calpe::ir {

struct Cost {
  std::size_t multiplications = 0;  // by coefficients other than 1
  std::size_t xors = 0;             // two-input: terms - 1 per instruction
  std::size_t xors3 = 0;            // with three-input XOR: ceil((terms - 1) / 2) per instruction
  std::size_t loads = 0;            // operands read, each instruction loading all of its own
  std::size_t stores = 0;           // instructions
  // Places that hold all outputs and temporaries still to be read, and the one being written, in
  // program order. A value read for the last time leaves its place to the target. Inputs and
  // outputs that nothing reads later need no place beyond their memory.
  std::size_t live_values = 0;
  bool operator==(const Cost&) const = default;
};

// `program` must be sound (verify.hpp).
Cost cost(const Program& program);

// What a device is good at; the optimiser's passes read it.
struct CostModel {
  // Values stay in registers while the whole program runs over a narrow block. Otherwise each
  // instruction runs over a wide one, and every value is written to memory and read from it.
  bool values_in_registers = false;
  std::size_t registers = 16;
  std::size_t vector_bytes = 16;
  std::size_t cache_bytes = 32 * 1024;
  bool three_input_xor = false;
};

}  // namespace calpe::ir
