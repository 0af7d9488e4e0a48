// SPDX-License-Identifier: Apache-2.0
#include "ir/transform.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"

namespace calpe::ir {

namespace {

// Emits butterflies; a value known to be zero is nullopt and costs nothing.
class Expansion {
 public:
  explicit Expansion(const Transform& transform)
      : transform_(transform),
        program_(transform.field, {.inputs = static_cast<std::uint32_t>(transform.places.size()),
                                   .outputs = transform.outputs()}) {}

  Program run() {
    const std::uint32_t size = transform_.size();
    std::vector<std::vector<Term>> sums(size);
    for (std::uint32_t base = size; base < transform_.points.size(); base += size) {
      const Column back = transform_back(base);
      for (std::uint32_t j = 0; j < size; ++j) {
        if (back[j]) sums[j].push_back({.value = *back[j]});
      }
    }
    Column column(size);
    for (std::uint32_t j = 0; j < size; ++j)
      column[j] = define(sums[j]);
    transform_forth(column);
    write_outputs(column);
    return std::move(program_);
  }

 private:
  using Slot = std::optional<Value>;
  using Column = std::vector<Slot>;

  Slot input_at(std::uint32_t place) const {
    const auto found = std::ranges::find(transform_.places, place);
    if (found == transform_.places.end()) return std::nullopt;
    return static_cast<Value>(found - transform_.places.begin());
  }

  Slot define(std::span<const Term> terms) {
    if (terms.empty()) return std::nullopt;
    if (terms.size() == 1 && terms[0].coefficient == 1) return terms[0].value;
    const Value target = program_.new_temporary();
    program_.append(target, terms);
    return target;
  }

  // a + coefficient * b
  Slot add(Slot a, Slot b, gf::Element coefficient) {
    std::array<Term, 2> terms;
    std::size_t count = 0;
    if (a && b && *a == *b) {  // one value times 1 + coefficient
      coefficient ^= 1;
      a.reset();
    }
    if (a) terms[count++] = {.value = *a};
    if (b && coefficient != 0) terms[count++] = {.value = *b, .coefficient = coefficient};
    return define(std::span(terms).first(count));
  }

  Column transform_back(std::uint32_t base) {
    const std::uint32_t size = transform_.size();
    Column v(size);
    for (std::uint32_t j = 0; j < size; ++j)
      v[j] = input_at(base + j);
    for (unsigned layer = 0; layer < transform_.log_size; ++layer) {
      const std::uint32_t half = std::uint32_t{1} << layer;
      for (std::uint32_t b = 0; b < size; b += 2 * half) {
        for (std::uint32_t j = b; j < b + half; ++j) {
          v[j + half] = add(v[j + half], v[j], 1);
          v[j] = add(v[j], v[j + half], transform_.points[(base + b) >> layer]);
        }
      }
    }
    return v;
  }

  void transform_forth(Column& v) {
    for (unsigned layer = transform_.log_size; layer-- > 0;) {
      const std::uint32_t half = std::uint32_t{1} << layer;
      for (std::uint32_t b = 0; b < transform_.size(); b += 2 * half) {
        for (std::uint32_t j = b; j < b + half; ++j) {
          v[j] = add(v[j], v[j + half], transform_.points[b >> layer]);
          v[j + half] = add(v[j + half], v[j], 1);
        }
      }
    }
  }

  void write_outputs(const Column& column) {
    for (std::uint32_t r = 0; r < transform_.outputs(); ++r) {
      std::vector<Term> terms;
      for (std::size_t i = 0; i < transform_.values.size(); ++i) {
        const gf::Element coefficient =
            transform_.finish ? (*transform_.finish)(r, i) : static_cast<gf::Element>(i == r);
        if (coefficient == 0) continue;
        const std::uint16_t place = transform_.values[i];
        for (const Slot value : {column[place], input_at(place)}) {
          if (value) terms.push_back({.value = *value, .coefficient = coefficient});
        }
      }
      program_.append(program_.output(r), terms);
    }
  }

  const Transform& transform_;
  Program program_;
};

}  // namespace

Program expand(const Transform& transform) {
  CALPE_ASSERT(transform.log_size <= 7 && transform.points.size() == 256);
  CALPE_ASSERT(transform.points[0] == 0);  // devices skip these products
  return Expansion(transform).run();
}

}  // namespace calpe::ir
