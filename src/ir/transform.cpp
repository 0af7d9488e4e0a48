// SPDX-License-Identifier: Apache-2.0
#include "ir/transform.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/assert.hpp"

namespace calpe::ir {

namespace {

// Emits butterflies; a value known to be zero is nullopt and costs nothing.
class Expansion {
 public:
  explicit Expansion(const Transform& transform)
      : transform_(transform),
        input_at_(transform.points.size()),
        program_(transform.field, {.inputs = static_cast<std::uint32_t>(transform.places.size()),
                                   .outputs = transform.outputs()}) {
    for (std::size_t i = 0; i < transform.places.size(); ++i)
      input_at_[transform.places[i]] = static_cast<Value>(i);
  }

  Program run() {
    if (transform_.locator) {
      write_located(*transform_.locator);
    } else {
      write_finished(values());
    }
    return std::move(program_);
  }

 private:
  using Slot = std::optional<Value>;
  using Column = std::vector<Slot>;

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

  // 2^log_size values from `first` on, at `position`.
  struct Range {
    std::uint32_t first = 0;
    unsigned log_size = 0;
    std::uint32_t position = 0;

    std::uint32_t size() const { return std::uint32_t{1} << log_size; }
    Range lower_half() const { return {first, log_size - 1, position}; }
    Range upper_half() const { return {first + size() / 2, log_size - 1, position + size() / 2}; }
  };
  Range whole(std::uint32_t base) const { return {0, transform_.log_size, base}; }

  void transform_back(Column& v, const Range& range) {
    for (unsigned layer = 0; layer < range.log_size; ++layer) {
      const std::uint32_t half = std::uint32_t{1} << layer;
      for (std::uint32_t b = 0; b < range.size(); b += 2 * half) {
        for (std::uint32_t j = range.first + b; j < range.first + b + half; ++j) {
          v[j + half] = add(v[j + half], v[j], 1);
          v[j] = add(v[j], v[j + half], transform_.coefficient(layer, range.position + b));
        }
      }
    }
  }

  void transform_forth(Column& v, const Range& range) {
    for (unsigned layer = range.log_size; layer-- > 0;) {
      const std::uint32_t half = std::uint32_t{1} << layer;
      for (std::uint32_t b = 0; b < range.size(); b += 2 * half) {
        for (std::uint32_t j = range.first + b; j < range.first + b + half; ++j) {
          v[j] = add(v[j], v[j + half], transform_.coefficient(layer, range.position + b));
          v[j + half] = add(v[j + half], v[j], 1);
        }
      }
    }
  }

  // From the first `count` values of the range to as many coefficients; the others are zero. The
  // polynomial is g + x h in halves, with x = c in the lower half and c + 1 in the upper one. So
  // the lower half gives g + c h; its values in the upper half, added to those there, are values of
  // h.
  void interpolate(Column& v, const Range& range, std::uint32_t count) {
    if (count == range.size()) return transform_back(v, range);
    const std::uint32_t half = range.size() / 2;
    if (count <= half) return interpolate(v, range.lower_half(), count);
    transform_back(v, range.lower_half());
    const Range upper = range.upper_half();
    Column there(v);
    std::copy_n(v.begin() + range.first, half, there.begin() + upper.first);
    transform_forth(there, upper);
    for (std::uint32_t j = upper.first; j < range.first + count; ++j)
      v[j] = add(v[j], there[j], 1);
    interpolate(v, upper, count - half);
    const gf::Element c = transform_.coefficient(range.log_size - 1, range.position);
    for (std::uint32_t j = range.first; j < upper.first; ++j)
      v[j] = add(v[j], v[j + half], c);
  }

  // The inputs of the coset at `base`, or nullopt if it has none.
  std::optional<Column> coset(std::uint32_t base) const {
    const auto first = input_at_.begin() + base;
    Column column(first, first + transform_.size());
    for (const Slot& slot : column) {
      if (slot) return column;
    }
    return std::nullopt;
  }

  gf::Element scale_of(std::uint32_t base) const {
    if (!transform_.locator || transform_.locator->coset_scales.empty()) return 1;
    return transform_.locator->coset_scales[base >> transform_.log_size];
  }

  // Every coset from `base` on, transformed back, added.
  Column sums_from(std::uint32_t base) {
    const std::uint32_t size = transform_.size();
    std::vector<std::vector<Term>> sums(size);
    for (; base < transform_.points.size(); base += size) {
      std::optional<Column> column = coset(base);
      if (!column) continue;  // beyond the field, too: points may be given for every layer
      const gf::Element scale = scale_of(base);
      if (scale == 0) continue;
      if (base == 0 && transform_.locator->interpolates) {
        const auto count =
            std::ranges::count_if(*column, [](Slot slot) { return slot.has_value(); });
        interpolate(*column, whole(0), static_cast<std::uint32_t>(count));
      } else {
        transform_back(*column, whole(base));
      }
      for (std::uint32_t j = 0; j < size; ++j) {
        if ((*column)[j]) sums[j].push_back({.value = *(*column)[j], .coefficient = scale});
      }
    }
    Column all(size);
    for (std::uint32_t j = 0; j < size; ++j)
      all[j] = define(sums[j]);
    return all;
  }

  // The values at the first coset, with the inputs there.
  Column values() {
    Column column = sums_from(transform_.size());
    transform_forth(column, whole(0));
    for (std::uint32_t j = 0; j < transform_.size(); ++j)
      column[j] = add(column[j], input_at_[j], 1);
    return column;
  }

  void write_finished(const Column& column) {
    for (std::uint32_t r = 0; r < transform_.outputs(); ++r) {
      std::vector<Term> terms;
      for (std::size_t i = 0; i < transform_.values.size(); ++i) {
        const gf::Element coefficient =
            transform_.finish ? (*transform_.finish)(r, i) : static_cast<gf::Element>(i == r);
        const Slot value = column[transform_.values[i]];
        if (value && coefficient != 0) {
          terms.push_back({.value = *value, .coefficient = coefficient});
        }
      }
      program_.append(program_.output(r), terms);
    }
  }

  void write_located(const Locator& locator) {
    const std::uint32_t size = transform_.size();
    const bool is_scaled = !locator.scales.empty();
    const Column known = is_scaled ? values() : Column(size);
    Column located = is_scaled ? Column(size) : sums_from(0);
    if (is_scaled) {
      for (std::uint32_t j = 0; j < size; ++j)
        located[j] = add(std::nullopt, known[j], locator.scales[j]);
      transform_back(located, whole(0));
    }
    std::map<std::uint32_t, Column> cosets;  // by base, made when first used
    for (std::uint32_t r = 0; r < locator.outputs.size(); ++r) {
      const auto& [place, factor] = locator.outputs[r];
      const std::uint32_t base = place & ~(size - 1);
      const auto [at, is_new] = cosets.try_emplace(base);
      if (is_new) {
        at->second = is_scaled && base == 0 ? derivative(located) : located;
        transform_forth(at->second, whole(base));
      }
      std::vector<Term> terms;
      if (place < size && known[place]) terms.push_back({.value = *known[place]});
      if (const Slot value = at->second[place - base]; value && factor != 0) {
        terms.push_back({.value = *value, .coefficient = factor});
      }
      for (Value i = 0; locator.direct && i < program_.inputs(); ++i) {
        if (const gf::Element c = (*locator.direct)(r, i); c != 0)
          terms.push_back({.value = i, .coefficient = c});
      }
      program_.append(program_.output(r), terms);
    }
  }

  Column derivative(const Column& of) {
    Column result(of.size());
    for (std::uint32_t j = 0; j < of.size(); ++j) {
      std::vector<Term> terms;
      for (std::uint32_t bit = 1; bit < of.size(); bit *= 2) {
        if ((j & bit) == 0 && of[j + bit]) terms.push_back({.value = *of[j + bit]});
      }
      result[j] = define(terms);
    }
    return result;
  }

  const Transform& transform_;
  Column input_at_;  // by position
  Program program_;
};

}  // namespace

Program expand(const Transform& transform) {
  CALPE_ASSERT(transform.has_cantor_basis() ||
               transform.points.size() >=
                   transform.log_size * std::size_t{transform.field->size()});
  CALPE_ASSERT(transform.log_size < transform.field->word_bits());
  CALPE_ASSERT(transform.points[0] == 0);  // devices skip these products
  CALPE_ASSERT(!transform.locator || (transform.values.empty() && !transform.finish));
  return Expansion(transform).run();
}

}  // namespace calpe::ir
