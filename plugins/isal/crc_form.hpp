// SPDX-License-Identifier: Apache-2.0
// Any CRC of up to 64 bits, as a CRC of 64 bits. For a polynomial P of degree d,
// x^(64-d) * (M * x^d mod P) = M * x^64 mod (x^(64-d) * P), so one register and one set of loops
// serve all of them. A reflected register holds the highest power in bit 0, and a shorter one is
// only extended with zeros: 0xEDB88320 stays as it is. Otherwise the register is shifted to the
// top: 0x8BB7 becomes 0x8BB7 << 48.
#pragma once
#include <cstdint>

namespace calpe_isal {

struct CrcForm {
  std::uint64_t polynomial = 0;  // without its highest power
  bool is_reflected = false;
};

// Multiplies by x modulo the polynomial.
constexpr std::uint64_t times_x(const CrcForm& form, std::uint64_t value) {
  return form.is_reflected ? value >> 1 ^ ((value & 1) != 0 ? form.polynomial : 0)
                           : value << 1 ^ (value >> 63 != 0 ? form.polynomial : 0);
}

constexpr std::uint64_t power_of_x(const CrcForm& form, unsigned exponent) {
  std::uint64_t power = form.is_reflected ? std::uint64_t{1} << 63 : 1;
  for (unsigned i = 0; i < exponent; ++i)
    power = times_x(form, power);
  return power;
}

// Constants that move 16 bytes of a message by a distance. With A the first and B the last 8 bytes,
// (A * x^64 + B) * x^bits = A * x^(bits+64) + B * x^bits. Both powers are taken modulo the
// polynomial, so that each product has 128 bits. The product of two reflected numbers has one
// factor x too many, because its 127 bits begin at bit 0.
struct FoldConstants {
  std::uint64_t low;   // for the low half of a vector
  std::uint64_t high;  // for its high half
};

constexpr FoldConstants fold_over(const CrcForm& form, unsigned bytes) {
  const unsigned bits = 8 * bytes;
  if (form.is_reflected) return {power_of_x(form, bits + 63), power_of_x(form, bits - 1)};
  return {power_of_x(form, bits), power_of_x(form, bits + 64)};
}

// The quotient x^128 / P without its highest power, x^64: digit by digit, as on paper.
constexpr std::uint64_t barrett_quotient(const CrcForm& form) {
  std::uint64_t quotient = 0;
  std::uint64_t rest = form.polynomial;  // of x^64
  for (unsigned i = 0; i < 64; ++i) {
    const bool is_set = (form.is_reflected ? rest & 1 : rest >> 63) != 0;
    if (is_set) quotient |= std::uint64_t{1} << (form.is_reflected ? i : 63 - i);
    rest = times_x(form, rest);
  }
  return quotient;
}

struct CrcFolds {
  FoldConstants by_16, by_64, by_128, by_256;
  std::uint64_t by_8;  // for the first 8 bytes of 16, which also move by 8
  std::uint64_t quotient;
  std::uint64_t polynomial;
  bool is_reflected;
};

constexpr CrcFolds make_crc_folds(const CrcForm& form) {
  return {.by_16 = fold_over(form, 16),
          .by_64 = fold_over(form, 64),
          .by_128 = fold_over(form, 128),
          .by_256 = fold_over(form, 256),
          .by_8 = power_of_x(form, form.is_reflected ? 127 : 128),
          .quotient = barrett_quotient(form),
          .polynomial = form.polynomial,
          .is_reflected = form.is_reflected};
}

}  // namespace calpe_isal
