// SPDX-License-Identifier: Apache-2.0
// Proofs about a program: that it is well formed, and that it computes exactly a given matrix.
#pragma once
#include <calpe/result.hpp>

#include "gf/bit_matrix.hpp"
#include "gf/matrix.hpp"
#include "ir/program.hpp"

namespace calpe::ir {

// Sound: targets and operands exist; inputs are never defined, every output and temporary exactly
// once and before its use; coefficients are 1..2^w-1, in the xor dialect 1. Fails with
// invalid_argument and names the instruction. O(terms).
Status verify(const Program& program);

// Sound, and its linear map equals `expected`: a proof for all data, not a sample. Fails with
// invalid_argument and names the first output and input that differ. An xor program is compared
// with the bits of the matrix.
Status verify_map(const Program& program, const gf::Matrix& expected);
// The same for an xor program whose bits are known: those of the program before a pass.
Status verify_map(const Program& program, const gf::BitMatrix& expected);

}  // namespace calpe::ir
