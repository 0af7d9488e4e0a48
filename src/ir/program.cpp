// SPDX-License-Identifier: Apache-2.0
#include "ir/program.hpp"

#include <limits>

#include "base/assert.hpp"

namespace calpe::ir {

Program::Program(gf::FieldRef field, const Shape& shape, Parts parts)
    : field_(std::move(field)), shape_(shape), parts_(std::move(parts)) {
  CALPE_ASSERT(field_ != nullptr);
  CALPE_ASSERT(dialect() == Dialect::gf ? unit_count() == 1 : unit_count() > 0);
  CALPE_ASSERT(inputs() % unit_count() == 0 && outputs() % unit_count() == 0);
}

void Program::reserve(std::size_t instruction_count, std::size_t term_count) {
  parts_.instructions.reserve(instruction_count);
  parts_.terms.reserve(term_count);
}

void Program::append(Value target, std::span<const Term> terms) {
  const Value value_count = values();
  CALPE_ASSERT(!is_input(target) && target < value_count);
  const std::size_t first = parts_.terms.size();
  CALPE_ASSERT(terms.size() <= std::numeric_limits<std::uint32_t>::max() - first);

  // One check for all terms, without branches, because wide decoders append thousands. A
  // coefficient of zero wraps to the largest number and fails too.
  const std::uint32_t largest = dialect() == Dialect::gf ? field().order() : 1;
  unsigned wrong = 0;
  for (const Term& term : terms) {
    wrong |= static_cast<unsigned>(term.value >= value_count) |
             static_cast<unsigned>(std::uint32_t{term.coefficient} - 1 >= largest);
  }
  CALPE_ASSERT(wrong == 0);

  parts_.terms.insert(parts_.terms.end(), terms.begin(), terms.end());
  parts_.instructions.push_back({.target = target,
                                 .first_term = static_cast<std::uint32_t>(first),
                                 .term_count = static_cast<std::uint32_t>(terms.size())});
}

bool Program::operator==(const Program& other) const noexcept {
  return field().word_bits() == other.field().word_bits() &&
         field().polynomial() == other.field().polynomial() && shape_ == other.shape_ &&
         parts_.temporaries == other.parts_.temporaries &&
         parts_.instructions == other.parts_.instructions && parts_.terms == other.parts_.terms;
}

// Does not use append: a decoder of 223+32 has 7000 terms and must be built in microseconds.
Program build(gf::FieldRef field, const gf::Matrix& rows) {
  const auto inputs = static_cast<std::uint32_t>(rows.columns());
  const auto outputs = static_cast<std::uint32_t>(rows.rows());
  Program::Parts parts;
  parts.instructions.reserve(outputs);
  parts.terms.resize(rows.cells().size() + 1);
  Term* next = parts.terms.data();
  const gf::Element* cell = rows.cells().data();
  unsigned bits = 0;
  for (std::uint32_t r = 0; r < outputs; ++r) {
    const Term* first = next;
    for (Value c = 0; c < inputs; ++c, ++cell) {
      *next = {.value = c, .coefficient = *cell};
      next += *cell != 0 ? 1 : 0;  // a zero is overwritten by the next
      bits |= *cell;
    }
    parts.instructions.push_back(
        {.target = inputs + r,
         .first_term = static_cast<std::uint32_t>(first - parts.terms.data()),
         .term_count = static_cast<std::uint32_t>(next - first)});
  }
  CALPE_ASSERT(bits < field->size());
  parts.terms.resize(static_cast<std::size_t>(next - parts.terms.data()));
  return Program(std::move(field), {.inputs = inputs, .outputs = outputs}, std::move(parts));
}

}  // namespace calpe::ir
