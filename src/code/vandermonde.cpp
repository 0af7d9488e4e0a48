// SPDX-License-Identifier: Apache-2.0
// The matrices called "Vandermonde"; every library has its own.
#include <vector>

#include "code/families.hpp"

namespace calpe::code {

namespace {

using gf::Element;
using gf::Field;
using gf::Matrix;

Element add(Element a, Element b) noexcept {
  return static_cast<Element>(a ^ b);
}

// A Vandermonde matrix with one row per point, times the inverse of its top k rows. Entry (i, j) is
// the Lagrange polynomial of data point j at parity point i, so no matrix is inverted:
//   product over t != j of (x_i + y_t) / (y_j + y_t).
// Points 0,1,2 | 3: row 0 = {1, 1, 1}, since (3+1)(3+2) / ((0+1)(0+2)) = 2*1 / (1*2) = 1.
Matrix systematic_rows(const Field& field, Size size, const std::vector<Element>& points) {
  Matrix rows(size.parity, size.data);
  std::vector<Element> denominators(size.data, 1);
  for (std::size_t j = 0; j < size.data; ++j) {
    for (std::size_t t = 0; t < size.data; ++t) {
      if (t == j) continue;
      denominators[j] = field.multiply(denominators[j], add(points[j], points[t]));
    }
  }
  for (std::size_t i = 0; i < size.parity; ++i) {
    const Element x = points[size.data + i];
    Element product = 1;
    for (std::size_t t = 0; t < size.data; ++t) {
      product = field.multiply(product, add(x, points[t]));
    }
    for (std::size_t j = 0; j < size.data; ++j) {
      rows(i, j) = field.divide(product, field.multiply(add(x, points[j]), denominators[j]));
    }
  }
  return rows;
}

}  // namespace

// Points 0, 1, 2, ...: Backblaze, klauspost, MinIO, SeaweedFS, Gibraltar.
Matrix vandermonde_rows(const Field& field, Size size) {
  std::vector<Element> points;
  for (std::size_t i = 0; i < size.data + size.parity; ++i) {
    points.push_back(static_cast<Element>(i));
  }
  return systematic_rows(field, size, points);
}

// Points 0, 1, a, a^2, ...: zfec, Tahoe-LAFS.
Matrix vandermonde_zfec_rows(const Field& field, Size size) {
  std::vector<Element> points = {0};
  for (std::size_t i = 1; i < size.data + size.parity; ++i) {
    points.push_back(field.power(2, i - 1));
  }
  return systematic_rows(field, size, points);
}

// Points a, a^2, ..., a^n, so n <= 2^w - 1: liberasurecode's isa_l_rs_vand_inv.
Matrix vandermonde_lec_rows(const Field& field, Size size) {
  std::vector<Element> points;
  for (std::size_t i = 1; i <= size.data + size.parity; ++i)
    points.push_back(field.power(2, i));
  return systematic_rows(field, size, points);
}

// Jerasure extends the Vandermonde matrix by a last row 0..0 1, the point at infinity, and makes it
// systematic. Then it scales rows and columns until the first row and first column are ones. Up to
// those scales entry (i, j) is 1/(x_i + y_j), points 0, 1, 2, ..., and the last row is ones.
Matrix vandermonde_jerasure_rows(const Field& field, Size size) {
  Matrix rows(size.parity, size.data);
  for (std::size_t i = 0; i < size.parity; ++i) {
    for (std::size_t j = 0; j < size.data; ++j) {
      const std::size_t sum = (size.data + i) ^ j;
      rows(i, j) = i + 1 == size.parity ? Element{1} : field.inverse(static_cast<Element>(sum));
    }
  }
  for (std::size_t j = 0; j < size.data; ++j) {
    const Element first = rows(0, j);
    for (std::size_t i = 0; i < size.parity; ++i)
      rows(i, j) = field.divide(rows(i, j), first);
  }
  for (std::size_t i = 1; i < size.parity; ++i) {
    const Element first = rows(i, 0);
    for (Element& cell : rows.row(i))
      cell = field.divide(cell, first);
  }
  return rows;
}

// 2^(i*j) without an inverse: not MDS in general, as ISA-L documents.
Matrix vandermonde_isal_rows(const Field& field, Size size) {
  Matrix rows(size.parity, size.data);
  for (std::size_t i = 0; i < size.parity; ++i) {
    for (std::size_t j = 0; j < size.data; ++j)
      rows(i, j) = field.power(2, i * j);
  }
  return rows;
}

// P = XOR, Q = sum of 2^j * data: the first two rows of vandermonde_isal.
Matrix raid6_rows(const Field& field, Size size) {
  return vandermonde_isal_rows(field, size);
}

}  // namespace calpe::code
