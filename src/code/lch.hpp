// SPDX-License-Identifier: Apache-2.0
// The code `lch`, encoded by an additive FFT: Lin, Chung and Han's transform over a Cantor basis.
//
// It is a Reed-Solomon code of length 2^w whose positions are the points w_0, w_1, .. N is the
// smallest power of two >= m. Parity i is at w_i and data shard j at w_(N+j). So parity and every
// chunk of N data shards each fill a coset of {w_0 .. w_(N-1)}, and one transform of N points
// serves a chunk. docs/codes.md derives the rows; docs/adr/0009 explains the positions.
//
// w is 8, or 16 for more shards. The first 256 points over GF(2^16) are those of GF(2^8), so small
// shapes have the same coefficients with both.
#pragma once
#include <cstddef>
#include <span>

#include "code/families.hpp"
#include "gf/field.hpp"
#include "gf/matrix.hpp"

namespace calpe::code {

inline constexpr unsigned lch_wide_bits = 16;

// Constants of the transform. Its butterflies at layer i and index b are multiplied by points[b >>
// i], because x^2 + x maps w_b to w_(b >> 1).
struct LchForm {
  unsigned log_size = 0;                // log2 N
  std::span<const gf::Element> points;  // one per element of the field; static
};

// Returns N, the length of a transform: the smallest power of two >= m.
std::size_t lch_size(std::size_t parity_shards) noexcept;

// Parity and the chunks of data need N positions each: (ceil(k/N) + 1) * N <= 2^word_bits.
bool lch_fits(Size size, unsigned word_bits) noexcept;

// GF(2^8) over 0x11D, or Field::tower().
LchForm lch_form(const gf::Field& field, std::size_t parity_shards);

// Coefficient of data shard j in parity i.
gf::Element lch_coefficient(const gf::Field& field, const LchForm& form, std::size_t i,
                            std::size_t j) noexcept;

// Needs lch_fits(size), and memory for the matrix.
gf::Matrix lch_rows(const gf::Field& field, Size size);

}  // namespace calpe::code
