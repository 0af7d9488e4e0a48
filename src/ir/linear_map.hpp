// SPDX-License-Identifier: Apache-2.0
// Computes the exact matrix of a program by tracking every value as a sum of inputs.
#pragma once
#include "gf/bit_matrix.hpp"
#include "gf/matrix.hpp"
#include "ir/program.hpp"

namespace calpe::ir {

// Row r holds the coefficients of output r, one column per input. Programs must be sound
// (verify.hpp). Costs O(terms) for a program without shared values, otherwise one row operation
// per term that is not an input.
gf::Matrix linear_map(const Program& program);  // gf dialect
gf::BitMatrix bit_map(const Program& program);  // xor dialect

}  // namespace calpe::ir
