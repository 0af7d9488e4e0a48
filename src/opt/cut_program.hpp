// SPDX-License-Identifier: Apache-2.0
// One way to cut a linear map up for a machine of registers: which inputs share, which outputs.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ir/program.hpp"
#include "opt/stages.hpp"

namespace calpe::opt {

struct Cut {
  std::size_t chunk_inputs = 1;  // so many neighbours share
  std::size_t row_groups = 1;
  std::uint32_t min_count = 2;  // rows that a shared pair must have
  std::uint64_t seed = 0;
  bool three_input_xor = true;
};

// A program of the same shape, empty but for the temporaries that the stages hand on.
ir::Program with_temporaries(const ir::Program& program, const Stages& stages);

// Of the program's shape; what it computes is said by its stages.
ir::Program cut_program(const ir::Program& program, const Stages& stages, const Cut& cut);

}  // namespace calpe::opt
