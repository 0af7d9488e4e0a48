// SPDX-License-Identifier: Apache-2.0
// The listings of P. Sobe, "Parallel coding for storage systems" (2012), and their code.
#pragma once
#include <string_view>

#include "base/assert.hpp"
#include "ir/program.hpp"
#include "ir/text_form.hpp"

namespace calpe::ir {

// Listing 1: k = 5, m = 2, w = 3.
inline constexpr std::string_view listing_1 =
    "u15 = XOR(u2,u3,u4,u5,u7,u9,u11,u12)\n"
    "u16 = XOR(u0,u2,u3,u7,u8,u9,u10,u11,u13)\n"
    "u17 = XOR(u1,u3,u4,u6,u8,u10,u11,u14)\n"
    "u18 = XOR(u0,u2,u4,u6,u7,u8,u11,u12,u13)\n"
    "u19 = XOR(u0,u1,u2,u4,u5,u6,u9,u11,u14)\n"
    "u20 = XOR(u1,u2,u3,u5,u6,u7,u10,u12)\n";

// Listing 2, the same with common parts shared: first as printed there, with temporaries last.
inline constexpr std::string_view listing_2_as_printed =
    "u15 = XOR(t1,t3,t4)\n"
    "u16 = XOR(t4,t6,t7)\n"
    "u17 = XOR(u3,u4,u8,t6,t9)\n"
    "u18 = XOR(u2,u4,u6,u7,t3,t7)\n"
    "u19 = XOR(u0,u2,u9,u11,t1,t9)\n"
    "u20 = XOR(u5,u7,u10,u12,t0,t8)\n"
    "t0 = XOR(u2,u3)\n"
    "t1 = XOR(u4,u5)\n"
    "t2 = XOR(u7,u9)\n"
    "t3 = XOR(u11,u12)\n"
    "t4 = XOR(t0,t2)\n"
    "t5 = XOR(u0,u8)\n"
    "t6 = XOR(u10,u11)\n"
    "t7 = XOR(u13,t5)\n"
    "t8 = XOR(u1,u6)\n"
    "t9 = XOR(u14,t8)\n";

inline constexpr std::string_view listing_2 =
    "t0 = XOR(u2,u3)\n"
    "t1 = XOR(u4,u5)\n"
    "t2 = XOR(u7,u9)\n"
    "t3 = XOR(u11,u12)\n"
    "t4 = XOR(t0,t2)\n"
    "t5 = XOR(u0,u8)\n"
    "t6 = XOR(u10,u11)\n"
    "t7 = XOR(u13,t5)\n"
    "t8 = XOR(u1,u6)\n"
    "t9 = XOR(u14,t8)\n"
    "u15 = XOR(t1,t3,t4)\n"
    "u16 = XOR(t4,t6,t7)\n"
    "u17 = XOR(u3,u4,u8,t6,t9)\n"
    "u18 = XOR(u2,u4,u6,u7,t3,t7)\n"
    "u19 = XOR(u0,u2,u9,u11,t1,t9)\n"
    "u20 = XOR(u5,u7,u10,u12,t0,t8)\n";

// Row i, column j: 1 / ((5 + i) xor j) over GF(2^3), x^3+x+1: the matrix of the listings.
inline gf::Matrix cauchy_5_2(const gf::Field& field) {
  gf::Matrix matrix(2, 5);
  for (unsigned i = 0; i < 2; ++i) {
    for (unsigned j = 0; j < 5; ++j) {
      matrix(i, j) = field.inverse(static_cast<gf::Element>((5 + i) ^ j));
    }
  }
  return matrix;
}

inline Program program_of(std::string_view text) {
  auto program = parse(text, {.inputs = 15, .outputs = 6, .unit_count = 3});
  CALPE_ASSERT(program.has_value());
  return *std::move(program);
}

}  // namespace calpe::ir
