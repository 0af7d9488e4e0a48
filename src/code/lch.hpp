// SPDX-License-Identifier: Apache-2.0
// The code `lch`, encoded by an additive FFT: Lin, Chung and Han's transform over a Cantor basis.
//
// It is a Reed-Solomon code of length 256 whose positions are the points w_0 .. w_255. N is the
// smallest power of two >= m. Parity i is at w_i and data shard j at w_(N+j). So parity and every
// chunk of N data shards each fill a coset of {w_0 .. w_(N-1)}, and one transform of N points
// serves a chunk. docs/codes.md derives the rows; docs/adr/0009 explains the positions.
#pragma once
#include <cstddef>
#include <vector>

#include "code/families.hpp"
#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::code {

// Constants of the transform. Its butterflies at layer i and index b are multiplied by points[b >>
// i], because x^2 + x maps w_b to w_(b >> 1).
struct LchForm {
  unsigned log_size = 0;            // log2 N
  std::vector<gf::Element> points;  // w_0 .. w_255
};

// Returns N, the length of a transform: the smallest power of two >= m.
std::size_t lch_size(std::size_t parity_shards) noexcept;

// Parity and the chunks of data need N positions each: (ceil(k/N) + 1) * N <= 256.
bool lch_fits(Size size) noexcept;

// GF(2^8) only. O(256).
LchForm lch_form(const gf::Field& field, std::size_t parity_shards);

// Needs lch_fits(size).
gf::Matrix lch_rows(const gf::Field& field, Size size);

}  // namespace calpe::code
