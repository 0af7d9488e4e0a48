// SPDX-License-Identifier: Apache-2.0
// Random programs of every valid kind, including kinds that no pass produces yet.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "ir/program.hpp"
#include "support/random_choice.hpp"

namespace calpe::conformance {

inline gf::FieldRef field_of(unsigned word_bits, std::uint32_t polynomial = 0) {
  auto field = gf::Field::create(word_bits, polynomial);
  CALPE_ASSERT(field.has_value());
  return *field;
}

struct MatrixShape {
  std::size_t rows = 1;
  std::size_t columns = 1;
  unsigned zero_percent = 0;
};

inline gf::Matrix random_matrix(Random& random, const gf::Field& field, const MatrixShape& shape) {
  gf::Matrix matrix(shape.rows, shape.columns);
  for (std::size_t r = 0; r < shape.rows; ++r) {
    for (std::size_t c = 0; c < shape.columns; ++c) {
      if (random.below(100) < shape.zero_percent) continue;
      matrix(r, c) = random.between<gf::Element>(1, static_cast<gf::Element>(field.order()));
    }
  }
  return matrix;
}

struct ProgramShape {
  ir::Dialect dialect = ir::Dialect::gf;
  std::uint32_t input_shards = 1;
  std::uint32_t output_shards = 1;
  std::uint32_t temporaries = 0;  // values, also in the xor dialect
  std::uint32_t terms_max = 12;   // per instruction
};

// Defines outputs and temporaries in random order, from inputs and values defined so far. Sums may
// be empty, name a value twice or be unused.
inline ir::Program random_program(Random& random, gf::FieldRef field, const ProgramShape& shape) {
  const bool is_gf = shape.dialect == ir::Dialect::gf;
  const std::uint32_t units = is_gf ? 1 : field->word_bits();
  ir::Program program(std::move(field), {.dialect = shape.dialect,
                                         .inputs = shape.input_shards * units,
                                         .outputs = shape.output_shards * units,
                                         .unit_count = units});
  std::vector<ir::Value> readable;
  for (ir::Value v = 0; v < program.inputs(); ++v)
    readable.push_back(v);
  std::vector<ir::Value> targets;
  for (std::uint32_t r = 0; r < program.outputs(); ++r)
    targets.push_back(program.output(r));
  for (std::uint32_t t = 0; t < shape.temporaries; ++t)
    targets.push_back(program.new_temporary());
  random.shuffle(std::span(targets));

  const auto largest = static_cast<gf::Element>(is_gf ? program.field().order() : 1);
  for (const ir::Value target : targets) {
    std::vector<ir::Term> terms(random.one_in(16) ? 0 : random.between(1U, shape.terms_max));
    for (ir::Term& term : terms) {
      term.value = random.pick(std::span<const ir::Value>(readable));
      term.coefficient =
          random.one_in(4) ? gf::Element{1} : random.between<gf::Element>(1, largest);
    }
    program.append(target, terms);
    readable.push_back(target);
  }
  return program;
}

}  // namespace calpe::conformance
