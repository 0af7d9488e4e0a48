// SPDX-License-Identifier: Apache-2.0
// For machines with many registers, such as a work-item of a GPU: finds the fewest three-input XORs
// without ever holding more words than there are registers.
#pragma once
#include <cstddef>
#include <optional>

#include "ir/program.hpp"

namespace calpe::opt {

struct RegisterBudget {
  std::size_t registers = 128;
  std::size_t rounds = 1;  // > 1: small programs are searched for about a second
  // Number of neighbouring outputs that leave their registers together, when the last is ready: the
  // planes of a byte. 1: each leaves as soon as it is ready.
  std::size_t outputs_together = 1;
};

// Maximum number of words held at once: an input from its first to its last use, a sum until its
// last. Needs a sound xor program.
std::size_t words_held(const ir::Program& program, std::size_t outputs_together = 1);

// Returns a program of the same shape and linear map, or nullopt if the budget is too small for any
// order. Needs a sound xor program.
std::optional<ir::Program> within_registers(const ir::Program& program,
                                            const RegisterBudget& budget);

}  // namespace calpe::opt
