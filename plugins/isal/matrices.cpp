// SPDX-License-Identifier: Apache-2.0
// Arithmetic on single elements, generator matrices and matrix inversion.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "isal/field_tables.hpp"
#include "isal/isal_abi.hpp"

using namespace calpe_isal;

namespace {

// Writes zeros with ones on the diagonal. Returns false if no parity rows remain to fill.
bool start_matrix(Byte* matrix, int rows, int k) {
  if (rows <= 0 || k <= 0) return false;
  const auto width = static_cast<std::size_t>(k);
  std::memset(matrix, 0, static_cast<std::size_t>(rows) * width);
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::min(rows, k)); ++i)
    matrix[i * width + i] = 1;
  return rows > k;
}

void scale_row(Byte* row, std::size_t size, Byte factor) {
  for (std::size_t i = 0; i < size; ++i)
    row[i] = product(factor, row[i]);
}

void add_row(Byte* to, const Byte* from, std::size_t size, Byte factor) {
  for (std::size_t i = 0; i < size; ++i)
    to[i] ^= product(factor, from[i]);
}

}  // namespace

unsigned char gf_mul(unsigned char a, unsigned char b) {
  return product(a, b);
}

unsigned char gf_inv(unsigned char a) {
  return inverses[a];
}

// Parity row r is 1, g, g^2 .. for g = 2^r.
void gf_gen_rs_matrix(unsigned char* matrix, int rows, int k) {
  if (!start_matrix(matrix, rows, k)) return;
  Byte base = 1;
  Byte* cell = matrix + static_cast<std::size_t>(k) * static_cast<std::size_t>(k);
  for (int r = k; r < rows; ++r) {
    Byte power = 1;
    for (int i = 0; i < k; ++i) {
      *cell++ = power;
      power = product(base, power);
    }
    base = product(2, base);
  }
}

// Entry i of row r is 1 / (r + i) in the field.
void gf_gen_cauchy1_matrix(unsigned char* matrix, int rows, int k) {
  if (!start_matrix(matrix, rows, k)) return;
  Byte* cell = matrix + static_cast<std::size_t>(k) * static_cast<std::size_t>(k);
  for (int r = k; r < rows; ++r) {
    for (int i = 0; i < k; ++i)
      *cell++ = inverses[static_cast<Byte>(r ^ i)];
  }
}

int gf_invert_matrix(unsigned char* in, unsigned char* out, int size) {
  if (size <= 0) return 0;
  const auto n = static_cast<std::size_t>(size);
  start_matrix(out, size, size);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    while (pivot < n && in[pivot * n + i] == 0)
      ++pivot;
    if (pivot == n) return -1;
    if (pivot != i) {
      std::swap_ranges(in + i * n, in + (i + 1) * n, in + pivot * n);
      std::swap_ranges(out + i * n, out + (i + 1) * n, out + pivot * n);
    }
    const Byte scale = inverses[in[i * n + i]];
    scale_row(in + i * n, n, scale);
    scale_row(out + i * n, n, scale);
    for (std::size_t r = 0; r < n; ++r) {
      const Byte factor = in[r * n + i];
      if (r == i || factor == 0) continue;
      add_row(in + r * n, in + i * n, n, factor);
      add_row(out + r * n, out + i * n, n, factor);
    }
  }
  return 0;
}
