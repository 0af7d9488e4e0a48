// SPDX-License-Identifier: Apache-2.0
// Turns plans into xor programs, to print, count or emit their equations.
#pragma once
#include <calpe/codec.hpp>

#include "ir/program.hpp"

namespace calpe::ir {

// Lowers the plan's matrix over the field of the spec to bits. The spec must be resolved.
Result<Program> xor_program(const Plan& plan, const CodeSpec& spec);

// Returns the linear map of an xor program as one equation per output.
Program direct_program(const Program& program);

}  // namespace calpe::ir
