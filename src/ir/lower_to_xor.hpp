// SPDX-License-Identifier: Apache-2.0
// Translates a gf program over GF(2^w) to an xor program over w units per shard.
#pragma once
#include "ir/program.hpp"

namespace calpe::ir {

// Value v becomes the values v*w + b, bit b of its symbols, for b = 0..w-1. So inputs, outputs and
// temporaries keep their order. Each instruction becomes w instructions, bit 0 first, through the
// bit matrices of its coefficients (gf::expand), with ascending operands. A value named twice is
// named once with the sum of its coefficients, or not at all if that is zero. Example, w = 3,
// x^3+x+1, one input, one output: v1 = 3*v0 becomes u3 = u0+u2, u4 = u0+u1+u2, u5 = u1+u2.
// `program` must be sound (verify.hpp).
Program lower_to_xor(const Program& program);

}  // namespace calpe::ir
