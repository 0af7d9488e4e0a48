// SPDX-License-Identifier: Apache-2.0
// Proves that a program is well formed and computes exactly a given matrix.
#pragma once
#include <calpe/result.hpp>

#include "gf/bit_matrix.hpp"
#include "gf/matrix.hpp"
#include "ir/program.hpp"

namespace calpe::ir {

// Checks that a program is sound. Targets and operands exist. Inputs are never defined; every
// output and temporary is defined exactly once, before its use. Coefficients are 1..2^w-1, and 1 in
// the xor dialect. Fails with invalid_argument and names the instruction. O(terms).
Status verify(const Program& program);

// Checks that a program is sound and its linear map equals `expected`: a proof for all data, not a
// sample. Fails with invalid_argument and names the first output and input that differ. An xor
// program is compared with the bits of the matrix.
Status verify_map(const Program& program, const gf::Matrix& expected);
// The same for an xor program with known bits: those of the program before a pass.
Status verify_map(const Program& program, const gf::BitMatrix& expected);

}  // namespace calpe::ir
