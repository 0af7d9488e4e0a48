// SPDX-License-Identifier: Apache-2.0
// GF(2^w) with logarithm tables, w = 2..16. For matrices and plans, not for bulk data.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::gf {

using Element = std::uint16_t;

inline constexpr unsigned word_bits_min = 2;
inline constexpr unsigned word_bits_max = 16;

// The polynomial that Jerasure, ISA-L and gf-complete use for this w; 0 outside 2..16.
std::uint32_t usual_polynomial(unsigned word_bits) noexcept;

class Field {
 public:
  // polynomial 0 means usual_polynomial. Fails with invalid_argument if the polynomial has another
  // degree or is not irreducible.
  static Result<std::shared_ptr<const Field>> create(unsigned word_bits, std::uint32_t polynomial);

  // GF(2^16) as GF(2^8)[u] / (u^2 + u + constant), GF(2^8) being over 0x11D: the element a + b * u
  // is a | b << 8, so products by elements of GF(2^8) act on both bytes alone. word_bits() is 16,
  // and polynomial() that of GF(2^8). Made once and shared. The constant is the last element of the
  // Cantor basis of GF(2^8), for which the quadratic polynomial is irreducible (code/lch.hpp).
  static std::shared_ptr<const Field> tower();

  unsigned word_bits() const noexcept { return word_bits_; }
  std::uint32_t polynomial() const noexcept { return polynomial_; }
  std::uint32_t size() const noexcept { return size_; }       // 2^w
  std::uint32_t order() const noexcept { return size_ - 1; }  // order of the multiplicative group

  // log_[0] is so large that every sum with it indexes the zeros of exp_, which avoids a branch.
  Element multiply(Element a, Element b) const noexcept { return exp_[log_[a] + log_[b]]; }
  Element inverse(Element a) const noexcept { return exp_[order() - log_[a]]; }  // a != 0
  Element divide(Element a, Element b) const noexcept {                          // b != 0
    return exp_[log_[a] + order() - log_[b]];
  }
  Element power(Element a, std::uint64_t exponent) const noexcept;

  // Logarithms to the base of generator(), for products of many factors. a != 0.
  std::uint32_t log(Element a) const noexcept { return log_[a]; }
  Element exp(std::uint32_t log) const noexcept { return exp_[log]; }  // log < 2 * order()
  Element generator() const noexcept { return exp_[1]; }

 private:
  Field() = default;
  template <class Multiply>
  void fill_tables(Element generator, const Multiply& multiply);

  unsigned word_bits_ = 0;
  std::uint32_t polynomial_ = 0;
  std::uint32_t size_ = 0;
  std::vector<Element> exp_;
  std::vector<std::uint32_t> log_;
};

using FieldRef = std::shared_ptr<const Field>;

}  // namespace calpe::gf
