// SPDX-License-Identifier: Apache-2.0
// Constants of GF(2^8) with polynomial 0x11D: products by half bytes, and inverses.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "isal/isal_abi.hpp"

namespace calpe_isal {

inline constexpr std::size_t table_bytes = 32;  // per coefficient
// Index of the coefficient c in its table, as c * 1. ISA-L documents this position.
inline constexpr std::size_t coefficient_at = 1;

using Table = std::array<Byte, table_bytes>;

namespace detail {

// Multiplies by shift and add. 2 * 0x80 = 0x100, which reduces to 0x1D modulo 0x11D.
constexpr Byte slow_product(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) product ^= a;
    a = a << 1 ^ ((a & 0x80) != 0 ? 0x11DU : 0U);
  }
  return static_cast<Byte>(product);
}

constexpr std::array<Table, 256> make_tables() {
  std::array<Table, 256> tables{};
  for (unsigned c = 0; c < 256; ++c) {
    for (unsigned x = 0; x < 16; ++x) {
      tables[c][x] = slow_product(c, x);
      tables[c][16 + x] = slow_product(c, x << 4);
    }
  }
  return tables;
}

}  // namespace detail

// The table that gf_vect_mul_init writes, for every coefficient.
inline constexpr std::array<Table, 256> product_tables = detail::make_tables();

constexpr Byte product(const Byte* table, Byte x) {
  return static_cast<Byte>(table[x & 15] ^ table[16 + (x >> 4)]);
}
constexpr Byte product(Byte c, Byte x) {
  return product(product_tables[c].data(), x);
}

namespace detail {

// 1 / 2^i is 2^(255 - i).
constexpr std::array<Byte, 256> make_inverses() {
  std::array<Byte, 256> powers{};
  Byte power = 1;
  for (std::size_t i = 0; i < 255; ++i) {
    powers[i] = power;
    power = product(2, power);
  }
  std::array<Byte, 256> inverses{};
  for (std::size_t i = 0; i < 255; ++i) {
    inverses[powers[i]] = powers[(255 - i) % 255];
  }
  return inverses;
}

}  // namespace detail

inline constexpr std::array<Byte, 256> inverses = detail::make_inverses();

static_assert(product(2, 0x80) == 0x1D);
static_assert(product(0x53, inverses[0x53]) == 1);

}  // namespace calpe_isal
