// SPDX-License-Identifier: Apache-2.0
#include "code/lch.hpp"

#include <array>
#include <bit>

#include "base/assert.hpp"

namespace calpe::code {

namespace {

using gf::Element;
using gf::Field;
using gf::Matrix;

constexpr std::size_t dimension = 8;
constexpr std::size_t point_count = std::size_t{1} << dimension;

// b_0 = 1 and b_i^2 + b_i = b_(i-1). Each equation has two solutions, x and x + 1; take the
// smaller. Over 0x11D: 1, d6, 98, 92, 56, c8, 58, e6.
std::array<Element, dimension> cantor_basis(const Field& field) {
  std::array<Element, dimension> basis = {1};
  for (std::size_t i = 1; i < dimension; ++i) {
    Element x = 0;
    while ((field.multiply(x, x) ^ x) != basis[i - 1]) {
      ++x;
      CALPE_ASSERT(x < field.size());
    }
    basis[i] = x;
  }
  return basis;
}

}  // namespace

std::size_t lch_size(std::size_t parity_shards) noexcept {
  return std::bit_ceil(parity_shards);
}

bool lch_fits(Size size) noexcept {
  return size.data + lch_size(size.parity) <= point_count;  // equivalent, because N divides 256
}

LchForm lch_form(const Field& field, std::size_t parity_shards) {
  CALPE_ASSERT(field.size() == point_count);
  const auto basis = cantor_basis(field);
  LchForm form{.log_size = static_cast<unsigned>(std::countr_zero(lch_size(parity_shards))),
               .points = {0}};
  for (const Element b : basis) {
    const std::size_t half = form.points.size();
    for (std::size_t i = 0; i < half; ++i)
      form.points.push_back(static_cast<Element>(form.points[i] ^ b));
  }
  return form;
}

// The transforms as a matrix: s / (x + y) with x = w_i, y = w_(N+j). s is the product of y + v over
// v = w_0 .. w_(N-1), which is the point of the chunk. Points add like their indices. 3+2: N = 2,
// row 0 = {w_1/w_2, w_1/w_3, w_2/w_4}. m = 1: N = 1, and all are w_y / w_y = 1.
Matrix lch_rows(const Field& field, Size size) {
  CALPE_ASSERT(lch_fits(size));
  const LchForm form = lch_form(field, size.parity);
  Matrix rows(size.parity, size.data);
  for (std::size_t j = 0; j < size.data; ++j) {
    const std::size_t place = lch_size(size.parity) + j;
    for (std::size_t i = 0; i < size.parity; ++i)
      rows(i, j) = field.divide(form.points[place >> form.log_size], form.points[i ^ place]);
  }
  return rows;
}

}  // namespace calpe::code
