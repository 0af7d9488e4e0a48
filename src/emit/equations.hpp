// SPDX-License-Identifier: Apache-2.0
// The part common to all C-like source code: the equations as a macro, expanded once per width.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"

namespace calpe::emit {

// The values that some output needs. Others would be unused variables, with warnings.
struct Needs {
  explicit Needs(const ir::Program& program);
  std::vector<bool> is_needed;  // by value
  std::vector<bool> is_read;    // by value: read by a needed instruction
};

// As in the equation language: units are numbered over inputs and outputs (u15), then temporaries
// (t0).
std::string variable_name(const ir::Program& program, ir::Value v);

struct StatementStyle {
  std::string_view zero;             // an empty sum: "(word){0}"
  std::string_view line_end = "\n";  // in a macro: " \\\n"
};
// Returns "  left = a ^ b ^ c;", on several lines if it is long.
std::string statement(std::string_view left, std::span<const std::string> operands,
                      const StatementStyle& style);

// Returns "#define EQUATIONS \" and one statement per instruction over the type `word`, OUNIT and
// RUNIT. `zero` is an empty sum: "(word){0}".
std::string equations_macro(const ir::Program& program, std::string_view zero);

// Style of UNIT_LEN, UNIT_STRIDE, OUNIT and RUNIT for one array of inputs, `n`, and one of outputs,
// `r`.
struct UnitStyle {
  std::string_view size_type;           // "size_t"
  std::string_view address_space = {};  // "__global "
};
std::string unit_macros(std::size_t unit_bytes, const UnitStyle& style);

// Allows several pieces of source code in one file.
inline constexpr std::string_view unit_undefs =
    "#undef UNIT_LEN\n#undef UNIT_STRIDE\n#undef OUNIT\n#undef RUNIT\n#undef EQUATIONS\n";

// Returns "// title", if there is one, and a summary of what the source code computes.
std::string heading(const ir::Program& program, std::string_view title);

}  // namespace calpe::emit
