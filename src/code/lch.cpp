// SPDX-License-Identifier: Apache-2.0
#include "code/lch.hpp"

#include <bit>

#include "base/assert.hpp"

namespace calpe::code {

namespace {

using gf::Element;
using gf::Field;
using gf::Matrix;

// b_0 = 1 and b_i^2 + b_i = b_(i-1). Each equation has two solutions, x and x + 1; take the
// smaller. Over 0x11D: 1, d6, 98, 92, 56, c8, 58, e6; the tower continues with 100 (which is u).
std::vector<Element> cantor_basis(const Field& field) {
  std::vector<Element> basis = {1};
  while (basis.size() < field.word_bits()) {
    std::uint32_t x = 0;
    while ((field.multiply(static_cast<Element>(x), static_cast<Element>(x)) ^ x) != basis.back()) {
      ++x;
      CALPE_ASSERT(x < field.size());
    }
    basis.push_back(static_cast<Element>(x));
  }
  return basis;
}

std::vector<Element> make_points(const Field& field) {
  std::vector<Element> points = {0};
  points.reserve(field.size());
  for (const Element b : cantor_basis(field)) {
    const std::size_t half = points.size();
    for (std::size_t i = 0; i < half; ++i)
      points.push_back(static_cast<Element>(points[i] ^ b));
  }
  return points;
}

// Both are made once, as 2^16 points take a millisecond.
std::span<const Element> points_of(const Field& field) {
  if (field.word_bits() == lch_wide_bits) {
    static const std::vector<Element> wide = make_points(*Field::tower());
    return wide;
  }
  static const std::vector<Element> narrow = make_points(**Field::create(8, 0));
  return narrow;
}

}  // namespace

std::size_t lch_size(std::size_t parity_shards) noexcept {
  return std::bit_ceil(parity_shards);
}

bool lch_fits(Size size, unsigned word_bits) noexcept {
  // Equivalent to the sum of whole chunks, because N divides the number of points.
  return size.data + lch_size(size.parity) <= std::size_t{1} << word_bits;
}

LchForm lch_form(const Field& field, std::size_t parity_shards) {
  CALPE_ASSERT(field.polynomial() == gf::usual_polynomial(8));
  return {.log_size = static_cast<unsigned>(std::countr_zero(lch_size(parity_shards))),
          .points = points_of(field)};
}

gf::Element lch_coefficient(const Field& field, const LchForm& form, std::size_t i,
                            std::size_t j) noexcept {
  const std::size_t place = (std::size_t{1} << form.log_size) + j;
  return field.divide(form.points[place >> form.log_size], form.points[i ^ place]);
}

// The transforms as a matrix: s / (x + y) with x = w_i, y = w_(N+j). s is the product of y + v over
// v = w_0 .. w_(N-1), which is the point of the chunk. Points add like their indices. 3+2: N = 2,
// row 0 = {w_1/w_2, w_1/w_3, w_2/w_4}. m = 1: N = 1, and all are w_y / w_y = 1.
Matrix lch_rows(const Field& field, Size size) {
  CALPE_ASSERT(lch_fits(size, field.word_bits()));
  const LchForm form = lch_form(field, size.parity);
  Matrix rows(size.parity, size.data);
  for (std::size_t i = 0; i < size.parity; ++i) {
    for (std::size_t j = 0; j < size.data; ++j)
      rows(i, j) = lch_coefficient(field, form, i, j);
  }
  return rows;
}

}  // namespace calpe::code
