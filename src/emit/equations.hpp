// SPDX-License-Identifier: Apache-2.0
// The part that all C-like texts share: the equations as a macro, to be expanded once per width.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.hpp"

namespace calpe::emit {

// Which values some output needs: the rest would be unused variables, and warnings.
struct Needs {
  explicit Needs(const ir::Program& program);
  std::vector<bool> is_needed;  // by value
  std::vector<bool> is_read;    // by value: by an instruction that is needed
};

// As in the equation language: units are numbered through inputs and outputs (u15), then come
// temporaries (t0).
std::string variable_name(const ir::Program& program, ir::Value v);

struct StatementStyle {
  std::string_view zero;             // what an empty sum is: "(word){0}"
  std::string_view line_end = "\n";  // of a macro: " \\\n"
};
// "  left = a ^ b ^ c;", on several lines when it is long.
std::string statement(std::string_view left, std::span<const std::string> operands,
                      const StatementStyle& style);

// "#define EQUATIONS \" and a statement per instruction over the type `word`, OUNIT and RUNIT.
// `zero` is what an empty sum is: "(word){0}".
std::string equations_macro(const ir::Program& program, std::string_view zero);

// UNIT_LEN, UNIT_STRIDE, OUNIT and RUNIT for one array of inputs, `n`, and one of outputs, `r`.
struct UnitStyle {
  std::string_view size_type;           // "size_t"
  std::string_view address_space = {};  // "__global "
};
std::string unit_macros(std::size_t unit_bytes, const UnitStyle& style);

// So that texts can stand one after the other in a file.
inline constexpr std::string_view unit_undefs =
    "#undef UNIT_LEN\n#undef UNIT_STRIDE\n#undef OUNIT\n#undef RUNIT\n#undef EQUATIONS\n";

// "// title" if there is one, and what the text computes.
std::string heading(const ir::Program& program, std::string_view title);

}  // namespace calpe::emit
