// SPDX-License-Identifier: Apache-2.0
// Programs as text, in the equation language of P. Sobe's coders: "u15 = XOR(u2,t0)", one equation
// per line. Units u0, u1, ... are the inputs, then the outputs; t0, t1, ... are temporaries.
#pragma once
#include <string>
#include <string_view>

#include <calpe/result.hpp>

#include "ir/program.hpp"

namespace calpe::ir {

// Equations do not show where the inputs end.
struct TextShape {
  std::uint32_t inputs = 0;      // 0: all units before the first defined one
  std::uint32_t outputs = 0;     // 0: all units from there to the last defined one
  std::uint32_t unit_count = 1;  // per shard
};

// Prints equations in program order (xor dialect). parse(print(p), its shape) equals p.
std::string print(const Program& program);

// Accepts equations in any order, as in a paper: a definition is moved before its first use;
// otherwise the order is kept. "#" and "//" begin comments, white space is free, and "XOR()" is
// zero. Temporaries may have any numbers and are renumbered in ascending order. Fails with
// invalid_argument and names the line: bad syntax, a value defined twice, never, or by itself,
// numbers beyond the shape. The program is sound (verify.hpp).
Result<Program> parse(std::string_view text, const TextShape& shape);

}  // namespace calpe::ir
