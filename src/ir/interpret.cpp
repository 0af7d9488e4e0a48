// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret.hpp"

#include <vector>

#include "base/assert.hpp"

namespace calpe::ir {

void interpret(const Program& program, std::span<const std::byte* const> inputs,
               std::span<std::byte* const> outputs, std::size_t bytes, bool accumulate,
               std::size_t high_distance) {
  const bool multiplies = program.dialect() == Dialect::gf;
  const bool is_wide = multiplies && program.field().word_bits() == 16;
  CALPE_ASSERT(!multiplies || is_wide || program.field().word_bits() == 8);
  CALPE_ASSERT(inputs.size() == program.inputs() && outputs.size() == program.outputs());

  std::vector<gf::Element> values(program.values());
  const auto write = [&](std::byte& to, unsigned byte) {
    const std::byte result{static_cast<std::uint8_t>(byte)};
    to = accumulate ? to ^ result : result;
  };
  for (std::size_t at = 0; at < bytes; ++at) {
    for (Value v = 0; v < program.inputs(); ++v) {
      auto value = std::to_integer<unsigned>(inputs[v][at]);
      if (is_wide) value |= std::to_integer<unsigned>(inputs[v][at + high_distance]) << 8;
      values[v] = static_cast<gf::Element>(value);
    }
    for (const Instruction& instruction : program.instructions()) {
      gf::Element sum = 0;
      for (const Term& term : program.terms(instruction)) {
        const gf::Element x = values[term.value];
        sum ^= multiplies ? program.field().multiply(term.coefficient, x) : x;
      }
      values[instruction.target] = sum;
    }
    for (std::uint32_t r = 0; r < program.outputs(); ++r) {
      const unsigned result = values[program.output(r)];
      write(outputs[r][at], result);
      if (is_wide) write(outputs[r][at + high_distance], result >> 8);
    }
  }
}

}  // namespace calpe::ir
