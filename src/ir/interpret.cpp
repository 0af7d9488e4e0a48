// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret.hpp"

#include <vector>

#include "base/assert.hpp"

namespace calpe::ir {

void interpret(const Program& program, std::span<const std::byte* const> inputs,
               std::span<std::byte* const> outputs, std::size_t bytes, bool accumulate) {
  const bool multiplies = program.dialect() == Dialect::gf;
  CALPE_ASSERT(!multiplies || program.field().word_bits() == 8);
  CALPE_ASSERT(inputs.size() == program.inputs() && outputs.size() == program.outputs());

  std::vector<std::uint8_t> values(program.values());
  for (std::size_t at = 0; at < bytes; ++at) {
    for (Value v = 0; v < program.inputs(); ++v) {
      values[v] = std::to_integer<std::uint8_t>(inputs[v][at]);
    }
    for (const Instruction& instruction : program.instructions()) {
      std::uint8_t sum = 0;
      for (const Term& term : program.terms(instruction)) {
        const std::uint8_t x = values[term.value];
        sum ^= multiplies ? static_cast<std::uint8_t>(program.field().multiply(term.coefficient, x))
                          : x;
      }
      values[instruction.target] = sum;
    }
    for (std::uint32_t r = 0; r < program.outputs(); ++r) {
      const std::byte result{values[program.output(r)]};
      outputs[r][at] = accumulate ? outputs[r][at] ^ result : result;
    }
  }
}

}  // namespace calpe::ir
