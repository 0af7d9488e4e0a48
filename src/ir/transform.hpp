// SPDX-License-Identifier: Apache-2.0
// An additive FFT over GF(2^8): a gf program with so much structure that a device may know a faster
// way to run it than instruction by instruction. expand() is its meaning.
//
// Inputs sit at places 0 .. 255, N = 2^log_size of them a coset. Those of a coset other than the
// first are transformed back, all cosets are added, and the sum is transformed forth at the first:
//
//   back, at base b (a multiple of N), layers i = 0 .. log_size-1, x and y being 2^i apart, x at
//   index n:             y += x,  x += points[(b + n) >> i] * y
//   forth, at base 0, layers log_size-1 .. 0:
//                        x += points[n >> i] * y,  y += x
//
// (n rounded down to a multiple of 2^(i+1)). Inputs of the first coset are added to the value at
// their place afterwards. Outputs are those values, or sums of their multiples (`finish`).
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
  std::vector<std::uint16_t> places = {};  // one per input, distinct, below 256
  std::vector<std::uint16_t> values = {};  // places below N of the values that are used, ascending
  std::optional<gf::Matrix> finish = {};   // outputs x values; without it every value is an output

  std::uint32_t size() const noexcept { return std::uint32_t{1} << log_size; }
  std::uint32_t outputs() const noexcept {
    return static_cast<std::uint32_t>(finish ? finish->rows() : values.size());
  }
};

// The same as instructions.
Program expand(const Transform& transform);

}  // namespace calpe::ir
