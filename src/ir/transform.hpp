// SPDX-License-Identifier: Apache-2.0
// An additive FFT over GF(2^8): a gf program with a structure that a device can run faster than
// instruction by instruction. expand() defines its meaning.
//
// Inputs are at positions 0 .. 255; N = 2^log_size of them form a coset. Every coset but the first
// is transformed back, all cosets are added, and the sum is transformed forward at the first:
//
//   back, at base b (a multiple of N), layers i = 0 .. log_size-1, x and y being 2^i apart, x at
//   index n:             y += x,  x += points[(b + n) >> i] * y
//   forward, at base 0, layers log_size-1 .. 0:
//                        x += points[n >> i] * y,  y += x
//
// (n rounded down to a multiple of 2^(i+1)). Then the inputs of the first coset are added to the
// values at their positions. Outputs are those values, or sums of their multiples (`finish`).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gf/field.hpp"
#include "gf/matrix.hpp"
#include "ir/program.hpp"

namespace calpe::ir {

struct Transform {
  gf::FieldRef field;
  std::span<const gf::Element> points;     // 256, the first 0, borrowed
  unsigned log_size = 0;                   // at most 7
  std::vector<std::uint16_t> places = {};  // one position per input, distinct, below 256
  std::vector<std::uint16_t> values = {};  // positions below N of the values used, ascending
  std::optional<gf::Matrix> finish = {};   // outputs x values; if absent, every value is an output
  std::optional<gf::Matrix> rows = {};     // all of this as outputs x inputs, if known

  std::uint32_t size() const noexcept { return std::uint32_t{1} << log_size; }
  std::uint32_t outputs() const noexcept {
    return static_cast<std::uint32_t>(finish ? finish->rows() : values.size());
  }
};

// Returns the transform as instructions.
Program expand(const Transform& transform);

}  // namespace calpe::ir
