// SPDX-License-Identifier: Apache-2.0
// The code that an additive FFT encodes: Lin, Chung, Han's transform over a Cantor basis.
//
// A Reed-Solomon code of length 256 whose positions are the points w_0 .. w_255. With N the
// smallest power of two >= m, parity i sits at w_i and data shard j at w_(N+j), so parity and every
// chunk of N data shards fill a coset of {w_0 .. w_(N-1)} each, and one transform of N points
// serves a chunk. docs/codes.md derives the rows, docs/adr/0009 tells why these places.
#pragma once
#include <cstddef>
#include <vector>

#include "code/families.hpp"
#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::code {

// What a transform needs besides the rows. Its butterflies at layer i and index b are multiplied by
// points[b >> i], as x^2 + x maps w_b to w_(b >> 1).
struct LchForm {
  unsigned log_size = 0;            // of N
  std::vector<gf::Element> points;  // w_0 .. w_255
};

// N: the length of a transform, the smallest power of two >= m.
std::size_t lch_size(std::size_t parity_shards) noexcept;

// Parity and the chunks of data need N places each: (ceil(k/N) + 1) * N <= 256.
bool lch_fits(Size size) noexcept;

// Of GF(2^8) only. O(256).
LchForm lch_form(const gf::Field& field, std::size_t parity_shards);

// Needs lch_fits(size).
gf::Matrix lch_rows(const gf::Field& field, Size size);

}  // namespace calpe::code
