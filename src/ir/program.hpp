// SPDX-License-Identifier: Apache-2.0
// Straight-line programs that every backend can run, optimise or translate. Two dialects: `gf`
// (sums of coefficient times value over GF(2^w), one value per shard) and `xor` (sums of values, w
// values per shard: packets or bit planes).
//
// Values are numbered: inputs, then outputs, then temporaries. Exactly one instruction defines each
// output and temporary, before any use; inputs are never defined. An instruction may read an output
// that is already defined. docs/ir.md has a worked example.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::ir {

enum class Dialect : std::uint8_t { gf, xor_ };

using Value = std::uint32_t;

struct Term {
  Value value = 0;
  gf::Element coefficient = 1;  // non-zero; always 1 in the xor dialect
  bool operator==(const Term&) const = default;
};

// target = sum of terms; no terms means zero.
struct Instruction {
  Value target = 0;
  std::uint32_t first_term = 0;
  std::uint32_t term_count = 0;
  bool operator==(const Instruction&) const = default;
};

class Program {
 public:
  struct Shape {
    Dialect dialect = Dialect::gf;
    std::uint32_t inputs = 0;   // values read: shards in `gf`, shards * w in `xor`
    std::uint32_t outputs = 0;  // values written
    // Values per shard: 1 in `gf`; w in `xor`, or any number if bits do not stand for symbols.
    std::uint32_t unit_count = 1;
    bool operator==(const Shape&) const = default;
  };
  // A whole program: built at once, parsed, or deliberately wrong in a test.
  struct Parts {
    std::uint32_t temporaries = 0;
    std::vector<Instruction> instructions = {};
    std::vector<Term> terms = {};
  };
  Program(gf::FieldRef field, const Shape& shape) : Program(std::move(field), shape, Parts{}) {}
  // Does not check the parts: call verify() before any other use.
  Program(gf::FieldRef field, const Shape& shape, Parts parts);

  const gf::Field& field() const noexcept { return *field_; }
  const gf::FieldRef& field_ref() const noexcept { return field_; }
  Dialect dialect() const noexcept { return shape_.dialect; }
  const Shape& shape() const noexcept { return shape_; }
  std::uint32_t inputs() const noexcept { return shape_.inputs; }
  std::uint32_t outputs() const noexcept { return shape_.outputs; }
  std::uint32_t unit_count() const noexcept { return shape_.unit_count; }
  std::uint32_t input_shards() const noexcept { return inputs() / unit_count(); }
  std::uint32_t output_shards() const noexcept { return outputs() / unit_count(); }
  std::uint32_t temporaries() const noexcept { return parts_.temporaries; }
  std::uint32_t values() const noexcept { return inputs() + outputs() + temporaries(); }
  Value output(std::uint32_t index) const noexcept { return inputs() + index; }
  bool is_input(Value v) const noexcept { return v < inputs(); }
  bool is_output(Value v) const noexcept { return v >= inputs() && v < inputs() + outputs(); }

  std::span<const Instruction> instructions() const noexcept { return parts_.instructions; }
  std::span<const Term> terms() const noexcept { return parts_.terms; }  // all instructions
  std::span<const Term> terms(const Instruction& i) const noexcept {
    return {parts_.terms.data() + i.first_term, i.term_count};
  }

  void reserve(std::size_t instruction_count, std::size_t term_count);
  Value new_temporary() { return inputs() + outputs() + parts_.temporaries++; }
  // Asserts ranges and coefficients; verify() checks the order of definitions. `terms` must not
  // point into this program.
  void append(Value target, std::span<const Term> terms);
  bool operator==(const Program& other) const noexcept;

 private:
  gf::FieldRef field_;
  Shape shape_;
  Parts parts_;
};

// output r = sum over c of rows(r, c) * input c, without zero coefficients.
Program build(gf::FieldRef field, const gf::Matrix& rows);

}  // namespace calpe::ir
