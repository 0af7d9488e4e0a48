// SPDX-License-Identifier: Apache-2.0
#include "emit/equations.hpp"

#include "base/text.hpp"

namespace calpe::emit {

namespace {

constexpr std::size_t columns_max = 96;

std::vector<std::string> operands(const ir::Program& program, std::span<const ir::Term> terms) {
  std::vector<std::string> names;
  for (const ir::Term& term : terms) {
    const std::string name = variable_name(program, term.value);
    names.push_back(program.is_input(term.value) ? text("OUNIT(", term.value, ")") : name);
  }
  return names;
}

}  // namespace

std::string variable_name(const ir::Program& program, ir::Value v) {
  const ir::Value units = program.inputs() + program.outputs();
  return v < units ? text("u", v) : text("t", v - units);
}

std::string statement(std::string_view left, std::span<const std::string> operands,
                      const StatementStyle& style) {
  std::string out = text("  ", left, " =");
  std::size_t line_start = 0;
  if (operands.empty()) out += text(" ", style.zero);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string name = text(i == 0 ? " " : " ^ ", operands[i]);
    if (out.size() - line_start + name.size() > columns_max) {
      out += text(style.line_end, "     ");
      line_start = out.size() - 5;
    }
    out += name;
  }
  return text(out, ";", style.line_end);
}

Needs::Needs(const ir::Program& program) : is_needed(program.values()), is_read(program.values()) {
  for (std::uint32_t r = 0; r < program.outputs(); ++r)
    is_needed[program.output(r)] = true;
  const auto instructions = program.instructions();
  for (std::size_t at = instructions.size(); at-- > 0;) {
    if (!is_needed[instructions[at].target]) continue;
    for (const ir::Term& term : program.terms(instructions[at])) {
      is_needed[term.value] = true;
      is_read[term.value] = true;
    }
  }
}

std::string equations_macro(const ir::Program& program, std::string_view zero) {
  const Needs needs(program);
  const StatementStyle style = {.zero = zero, .line_end = " \\\n"};
  std::string out = "#define EQUATIONS \\\n";
  for (const ir::Instruction& instruction : program.instructions()) {
    const ir::Value target = instruction.target;
    if (!needs.is_needed[target]) continue;
    const auto terms = operands(program, program.terms(instruction));
    if (!program.is_output(target)) {
      out += statement("const word " + variable_name(program, target), terms, style);
      continue;
    }
    const std::string unit = text("RUNIT(", target - program.inputs(), ")");
    if (needs.is_read[target]) {
      // Do not read it back from memory, which differs with accumulate.
      out += statement("const word " + variable_name(program, target), terms, style);
      out += text("  ", unit, " = ", variable_name(program, target), "; \\\n");
    } else {
      out += statement(unit, terms, style);
    }
  }
  out.erase(out.size() - 3);  // the last backslash
  return out + "\n";
}

std::string unit_macros(std::size_t unit_bytes, const UnitStyle& style) {
  const std::string length = unit_bytes == 0 ? std::string("unit_bytes")
                                             : text("((", style.size_type, ")", unit_bytes, ")");
  return text("#define UNIT_LEN ", length, "\n#define UNIT_STRIDE ",
              unit_bytes == 0 ? "unit_stride" : "UNIT_LEN",
              "\n"
              "// Unit a from column i on, as many columns as a word has.\n"
              "#define OUNIT(a) (*(",
              style.address_space,
              "const word *)(n + (a) * UNIT_STRIDE + i))\n"
              "#define RUNIT(a) (*(",
              style.address_space, "word *)(r + (a) * UNIT_STRIDE + i))\n\n");
}

std::string heading(const ir::Program& program, std::string_view title) {
  const Needs needs(program);
  std::size_t equation_count = 0;
  std::size_t xor_count = 0;
  for (const ir::Instruction& instruction : program.instructions()) {
    if (!needs.is_needed[instruction.target]) continue;
    ++equation_count;
    xor_count += instruction.term_count == 0 ? 0 : instruction.term_count - 1;
  }
  return text(title.empty() ? "" : text("// ", title, "\n"),
              "// Emitted by Calpe: ", program.inputs(), " units in, ", program.outputs(),
              " units out, ", equation_count, " equations, ", xor_count, " XORs.\n");
}

}  // namespace calpe::emit
