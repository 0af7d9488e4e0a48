// SPDX-License-Identifier: Apache-2.0
// For machines of many registers, such as a work-item of a GPU: the fewest three-input XORs that
// can be had without ever holding more words than there are registers.
#pragma once
#include <cstddef>
#include <optional>

#include "ir/program.hpp"

namespace calpe::opt {

struct RegisterBudget {
  std::size_t registers = 128;
  std::size_t rounds = 1;  // more than 1: small programs are searched for about a second
  // So many neighbouring outputs leave their registers together, when the last of them is there:
  // the planes of a byte. 1: each as soon as it is ready.
  std::size_t outputs_together = 1;
};

// Most words held at once: an input from its first to its last use, a sum until its last. xor
// dialect, sound.
std::size_t words_held(const ir::Program& program, std::size_t outputs_together = 1);

// Same shape and linear map. Nothing where the budget is too small for any order. xor dialect,
// sound.
std::optional<ir::Program> within_registers(const ir::Program& program,
                                            const RegisterBudget& budget);

}  // namespace calpe::opt
