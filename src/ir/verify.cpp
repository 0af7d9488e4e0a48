// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.hpp"

#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "ir/linear_map.hpp"

namespace calpe::ir {

namespace {

constexpr std::size_t nowhere = ~std::size_t{0};

// "output 2", "temporary 0": the number within its kind.
std::string name_of(const Program& program, Value v) {
  if (program.is_input(v)) return text("input ", v);
  if (program.is_output(v)) return text("output ", v - program.inputs());
  return text("temporary ", v - program.inputs() - program.outputs());
}

// defined_at[v]: the instruction that defined v so far, or `nowhere`.
Status check_terms(const Program& program, std::size_t at,
                   std::span<const std::size_t> defined_at) {
  const std::uint32_t largest = program.dialect() == Dialect::gf ? program.field().order() : 1;
  for (const Term& term : program.terms(program.instructions()[at])) {
    if (term.value >= program.values()) {
      return invalid("instruction ", at, " reads value ", term.value, "; expected less than ",
                     program.values());
    }
    if (!program.is_input(term.value) && defined_at[term.value] == nowhere) {
      return invalid("instruction ", at, " reads ", name_of(program, term.value),
                     ", which is not defined yet");
    }
    if (term.coefficient == 0 || term.coefficient > largest) {
      return invalid("instruction ", at, " multiplies ", name_of(program, term.value), " by ",
                     term.coefficient, "; expected 1..", largest);
    }
  }
  return Done{};
}

Status check_target(const Program& program, std::size_t at,
                    std::span<const std::size_t> defined_at) {
  const Value target = program.instructions()[at].target;
  if (target >= program.values()) {
    return invalid("instruction ", at, " defines value ", target, "; expected less than ",
                   program.values());
  }
  if (program.is_input(target)) {
    return invalid("instruction ", at, " defines input ", target,
                   "; expected an output or a temporary");
  }
  if (defined_at[target] != nowhere) {
    return invalid("instruction ", at, " defines ", name_of(program, target),
                   ", already defined by instruction ", defined_at[target]);
  }
  return Done{};
}

Status check_term_range(const Program& program, std::size_t at) {
  const Instruction& instruction = program.instructions()[at];
  const std::size_t end = std::size_t{instruction.first_term} + instruction.term_count;
  if (end > program.terms().size()) {
    return invalid("instruction ", at, " ends at term ", end, "; expected at most ",
                   program.terms().size());
  }
  return Done{};
}

template <class Rows>
Status check_shape(const Program& program, const Rows& expected) {
  if (program.outputs() != expected.rows() || program.inputs() != expected.columns()) {
    return invalid("program has ", program.outputs(), " outputs and ", program.inputs(),
                   " inputs; expected ", expected.rows(), " and ", expected.columns());
  }
  return Done{};
}

Error difference(std::size_t output, std::size_t input, unsigned got, unsigned expected) {
  return invalid("output ", output, " has ", got, " times input ", input, "; expected ", expected);
}

}  // namespace

Status verify(const Program& program) {
  std::vector<std::size_t> defined_at(program.values(), nowhere);
  for (std::size_t at = 0; at < program.instructions().size(); ++at) {
    if (Status range = check_term_range(program, at); !range) return range;
    if (Status terms = check_terms(program, at, defined_at); !terms) return terms;
    if (Status target = check_target(program, at, defined_at); !target) return target;
    defined_at[program.instructions()[at].target] = at;
  }
  for (Value v = program.inputs(); v < program.values(); ++v) {
    if (defined_at[v] == nowhere) return invalid(name_of(program, v), " is never defined");
  }
  return Done{};
}

Status verify_map(const Program& program, const gf::Matrix& expected) {
  if (program.dialect() == Dialect::xor_) {
    return verify_map(program, gf::expand(program.field(), expected));
  }
  if (Status sound = verify(program); !sound) return sound;
  if (Status shape = check_shape(program, expected); !shape) return shape;
  const gf::Matrix got = linear_map(program);
  for (std::size_t r = 0; r < expected.rows(); ++r) {
    for (std::size_t c = 0; c < expected.columns(); ++c) {
      if (got(r, c) != expected(r, c)) return difference(r, c, got(r, c), expected(r, c));
    }
  }
  return Done{};
}

Status verify_map(const Program& program, const gf::BitMatrix& expected) {
  CALPE_ASSERT(program.dialect() == Dialect::xor_);
  if (Status sound = verify(program); !sound) return sound;
  if (Status shape = check_shape(program, expected); !shape) return shape;
  const gf::BitMatrix got = bit_map(program);
  if (got == expected) return Done{};
  for (std::size_t r = 0; r < expected.rows(); ++r) {
    for (std::size_t c = 0; c < expected.columns(); ++c) {
      if (got.get(r, c) != expected.get(r, c)) {
        return difference(r, c, got.get(r, c) ? 1 : 0, expected.get(r, c) ? 1 : 0);
      }
    }
  }
  return Done{};
}

}  // namespace calpe::ir
