// SPDX-License-Identifier: Apache-2.0
// An additive FFT over GF(2^8) or GF(2^16): a gf program with a structure that a device can run
// faster than instruction by instruction. expand() defines its meaning.
//
// Inputs are at positions below the size of the field; N = 2^log_size of them form a coset. Every
// coset but the first is transformed back, all cosets are added, and the sum is transformed forward
// at the first:
//
//   back, at base b (a multiple of N), layers i = 0 .. log_size-1, x and y being 2^i apart, x at
//   index n:             y += x,  x += coefficient(i, b + n) * y
//   forward, at base b, layers log_size-1 .. 0:
//                        x += coefficient(i, b + n) * y,  y += x
//
// (n rounded down to a multiple of 2^(i+1)). Then the inputs of the first coset are added to the
// values at their positions. Outputs are those values, or sums of their multiples (`finish`), or
// follow from a polynomial through multiples of them (`locator`).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gf/field.hpp"
#include "gf/matrix.hpp"
#include "ir/program.hpp"

namespace calpe::ir {

// Decodes by the polynomial O that is zero where a value is unknown (engine/lch_locator.hpp). Value
// n is multiplied by scales[n], and these products are transformed back at base 0 to the
// coefficients of O. Outputs are
//
//   at a position z >= N:  factor * O(z), from O transformed forward at z rounded down to N
//   at a position p < N:   value p + factor * O'(p), from O' transformed forward at base 0
//
// The derivative O' has the coefficients o'[n] = sum of o[n + 2^b] over the bits b < log_size that
// are not set in n.
//
// Without scales, all are 1. Forward and back then cancel: O is the sum of all cosets, the first
// included, each transformed back. An output is factor * O at any position. If it interpolates, the
// inputs of the first coset are at its first positions, and its other values are not zero, but
// such that the coefficients from the number of these inputs on are zero.
//
// With coset scales, every coset is multiplied by its own before it is added; 0 leaves it out.
struct Locator {
  struct Output {
    std::uint16_t place = 0;
    gf::Element factor = 1;  // 0: the output is only that of `direct`
    bool operator==(const Output&) const = default;
  };
  std::vector<gf::Element> scales = {};  // N, or none
  // Without scales only:
  bool interpolates = false;
  std::vector<gf::Element> coset_scales = {};  // by position / N, or none
  std::optional<gf::Matrix> direct = {};       // outputs x inputs: is added to the outputs
  std::vector<Output> outputs = {};
};

struct Transform {
  gf::FieldRef field;
  // One per element of the field, the first 0: for all layers (a Cantor basis), or for each layer
  // one after the other. Borrowed.
  std::span<const gf::Element> points;
  unsigned log_size = 0;                   // less than the bits of a word
  std::vector<std::uint16_t> places = {};  // one position per input, distinct
  std::vector<std::uint16_t> values = {};  // positions below N of the values used, ascending
  std::optional<gf::Matrix> finish = {};   // outputs x values; if absent, every value is an output
  std::optional<Locator> locator = {};     // then no `values` and no `finish`
  std::optional<gf::Matrix> rows = {};     // all of this as outputs x inputs, if known

  std::uint32_t size() const noexcept { return std::uint32_t{1} << log_size; }
  bool has_cantor_basis() const noexcept { return points.size() == field->size(); }
  gf::Element coefficient(unsigned layer, std::size_t position) const noexcept {
    const std::size_t table = has_cantor_basis() ? 0 : std::size_t{layer} * field->size();
    return points[table + (position >> layer)];
  }
  std::uint32_t outputs() const noexcept {
    if (locator) return static_cast<std::uint32_t>(locator->outputs.size());
    return static_cast<std::uint32_t>(finish ? finish->rows() : values.size());
  }
};

// Returns the transform as instructions.
Program expand(const Transform& transform);

}  // namespace calpe::ir
