// SPDX-License-Identifier: Apache-2.0
// Divides a linear map for a machine with registers: which inputs share, and which outputs.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ir/program.hpp"
#include "opt/stages.hpp"

namespace calpe::opt {

struct Cut {
  std::size_t chunk_inputs = 1;  // number of neighbours that share
  std::size_t row_groups = 1;
  std::uint32_t min_count = 2;  // minimum number of rows with a shared pair
  std::uint64_t seed = 0;
  bool three_input_xor = true;
};

// Returns a program of the same shape, empty except for the temporaries passed between stages.
ir::Program with_temporaries(const ir::Program& program, const Stages& stages);

// Returns a program of the same shape that computes the stages.
ir::Program cut_program(const ir::Program& program, const Stages& stages, const Cut& cut);

}  // namespace calpe::opt
