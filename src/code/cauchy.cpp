// SPDX-License-Identifier: Apache-2.0
// Cauchy matrices, and the two that Jerasure derives from them.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "code/families.hpp"
#include "gf/bit_matrix.hpp"

namespace calpe::code {

namespace {

using gf::Element;
using gf::Field;
using gf::Matrix;

Element reciprocal(const Field& field, std::size_t x, std::size_t y) {
  return field.inverse(static_cast<Element>(x ^ y));
}

// Counts the ones in the bit matrices of a row multiplied by `factor`.
std::size_t ones_of_row(const Field& field, std::span<const std::uint16_t> ones,
                        std::span<const Element> row, Element factor) {
  std::size_t sum = 0;
  for (const Element cell : row)
    sum += ones[field.multiply(cell, factor)];
  return sum;
}

}  // namespace

// 1/((k+i) xor j). k=3, m=2: row 0 = {1/3, 1/2, 1/1}, row 1 = {1/4, 1/5, 1/6}. A larger m adds rows
// and changes none.
Matrix cauchy_rows(const Field& field, Size size) {
  Matrix rows(size.parity, size.data);
  for (std::size_t i = 0; i < size.parity; ++i) {
    for (std::size_t j = 0; j < size.data; ++j)
      rows(i, j) = reciprocal(field, size.data + i, j);
  }
  return rows;
}

// The first parity is the XOR of all data. The row of ones is the point at infinity, so the Cauchy
// proof still holds.
Matrix hybrid_rows(const Field& field, Size size) {
  Matrix rows = cauchy_rows(field, size);
  std::ranges::fill(rows.row(0), Element{1});
  return rows;
}

// Jerasure's original: 1/(i xor (m+j)).
Matrix cauchy_orig_rows(const Field& field, Size size) {
  Matrix rows(size.parity, size.data);
  for (std::size_t i = 0; i < size.parity; ++i) {
    for (std::size_t j = 0; j < size.data; ++j)
      rows(i, j) = reciprocal(field, i, size.parity + j);
  }
  return rows;
}

// Jerasure's improvement. For m = 2 the second row is the k field elements with the fewest ones in
// their bit matrices; ties go to the smaller element. Otherwise columns are scaled to make the
// first row ones. Then each further row is divided by the one of its elements that leaves the
// fewest ones, if that is better than not dividing; ties go to the leftmost.
Matrix cauchy_good_rows(const Field& field, Size size) {
  const std::vector<std::uint16_t> ones = gf::ones_table(field);
  if (size.parity == 2) {
    std::vector<Element> elements(field.order());
    std::iota(elements.begin(), elements.end(), Element{1});
    std::ranges::stable_sort(elements, {}, [&](Element e) { return ones[e]; });
    Matrix rows(2, size.data);
    for (std::size_t j = 0; j < size.data; ++j) {
      rows(0, j) = 1;
      rows(1, j) = elements[j];
    }
    return rows;
  }
  Matrix rows = cauchy_orig_rows(field, size);
  for (std::size_t j = 0; j < size.data; ++j) {
    const Element factor = field.inverse(rows(0, j));
    for (std::size_t i = 0; i < size.parity; ++i)
      rows(i, j) = field.multiply(rows(i, j), factor);
  }
  for (std::size_t i = 1; i < size.parity; ++i) {
    Element best = 1;
    std::size_t fewest = ones_of_row(field, ones, rows.row(i), 1);
    for (const Element cell : rows.row(i)) {
      const Element factor = field.inverse(cell);
      const std::size_t count = ones_of_row(field, ones, rows.row(i), factor);
      if (count < fewest) {
        fewest = count;
        best = factor;
      }
    }
    for (Element& cell : rows.row(i))
      cell = field.multiply(cell, best);
  }
  return rows;
}

}  // namespace calpe::code
