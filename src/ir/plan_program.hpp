// SPDX-License-Identifier: Apache-2.0
// Plans as xor programs, for those who want to see, count or emit the equations.
#pragma once
#include <calpe/codec.hpp>

#include "ir/program.hpp"

namespace calpe::ir {

// The plan's matrix over the field of the spec, which must be resolved, lowered to bits.
Result<Program> xor_program(const Plan& plan, const CodeSpec& spec);

// The linear map of an xor program alone, one equation per output.
Program direct_program(const Program& program);

}  // namespace calpe::ir
