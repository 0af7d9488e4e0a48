// SPDX-License-Identifier: Apache-2.0
#include "ir/linear_map.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace calpe::ir {

namespace {

// Rows follow the numbering of values, outputs first, so the map is the top of the computed rows.
template <class Rows>
Rows output_rows(const Program& program, const Rows& all) {
  Rows result(program.outputs(), program.inputs());
  for (std::size_t r = 0; r < result.rows(); ++r)
    std::ranges::copy(all.row(r), result.row(r).begin());
  return result;
}

}  // namespace

gf::Matrix linear_map(const Program& program) {
  CALPE_ASSERT(program.dialect() == Dialect::gf);
  const Value inputs = program.inputs();
  gf::Matrix sums(program.values() - inputs, inputs);
  for (const Instruction& instruction : program.instructions()) {
    const std::span<gf::Element> target = sums.row(instruction.target - inputs);
    for (const Term& term : program.terms(instruction)) {
      if (program.is_input(term.value)) {
        target[term.value] ^= term.coefficient;
        continue;
      }
      const std::span<const gf::Element> operand = sums.row(term.value - inputs);
      for (std::size_t c = 0; c < target.size(); ++c) {
        target[c] ^= program.field().multiply(term.coefficient, operand[c]);
      }
    }
  }
  return output_rows(program, sums);
}

gf::BitMatrix bit_map(const Program& program) {
  CALPE_ASSERT(program.dialect() == Dialect::xor_);
  const Value inputs = program.inputs();
  gf::BitMatrix sums(program.values() - inputs, inputs);
  for (const Instruction& instruction : program.instructions()) {
    const std::size_t target = instruction.target - inputs;
    for (const Term& term : program.terms(instruction)) {
      if (program.is_input(term.value)) {
        sums.flip(target, term.value);
        continue;
      }
      const std::span<const std::uint64_t> operand = sums.row(term.value - inputs);
      const std::span<std::uint64_t> words = sums.row(target);
      for (std::size_t i = 0; i < words.size(); ++i)
        words[i] ^= operand[i];
    }
  }
  return output_rows(program, sums);
}

}  // namespace calpe::ir
