// SPDX-License-Identifier: Apache-2.0
#include "ir/lower_to_xor.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"

namespace calpe::ir {

namespace {

// Ascending by value, each value once, no zero coefficients.
void merge(std::span<const Term> terms, std::vector<Term>& merged) {
  merged.assign(terms.begin(), terms.end());
  std::ranges::sort(merged, {}, &Term::value);
  std::size_t count = 0;
  for (const Term& term : merged) {
    if (count > 0 && merged[count - 1].value == term.value) {
      merged[count - 1].coefficient ^= term.coefficient;
    } else {
      if (count > 0 && merged[count - 1].coefficient == 0) --count;
      merged[count++] = term;
    }
  }
  if (count > 0 && merged[count - 1].coefficient == 0) --count;
  merged.resize(count);
}

}  // namespace

Program lower_to_xor(const Program& program) {
  CALPE_ASSERT(program.dialect() == Dialect::gf);
  const gf::Field& field = program.field();
  const unsigned w = field.word_bits();
  Program lowered(program.field_ref(), {.dialect = Dialect::xor_,
                                        .inputs = program.inputs() * w,
                                        .outputs = program.outputs() * w,
                                        .unit_count = w});
  for (std::uint32_t i = 0; i < program.temporaries() * w; ++i)
    lowered.new_temporary();
  // About half the bits of a coefficient's matrix are ones.
  lowered.reserve(program.instructions().size() * w, program.terms().size() * w * w / 2);

  std::vector<Term> merged;
  std::array<std::vector<Term>, gf::word_bits_max> bits;  // bits[b]: operands of target bit b
  for (const Instruction& instruction : program.instructions()) {
    merge(program.terms(instruction), merged);
    for (std::vector<Term>& bit : bits)
      bit.clear();
    for (const Term& term : merged) {
      for (unsigned t = 0; t < w; ++t) {
        // Bit t of the operand contributes coefficient * 2^t to the target.
        const gf::Element column =
            field.multiply(term.coefficient, static_cast<gf::Element>(1U << t));
        for (unsigned b = 0; b < w; ++b) {
          if ((column >> b & 1) != 0) bits[b].push_back({.value = term.value * w + t});
        }
      }
    }
    for (unsigned b = 0; b < w; ++b)
      lowered.append(instruction.target * w + b, bits[b]);
  }
  return lowered;
}

}  // namespace calpe::ir
