// SPDX-License-Identifier: Apache-2.0
#include "gf/field.hpp"

#include <array>

#include "base/text.hpp"

namespace calpe::gf {

namespace {

// Schoolbook multiplication: shift, add, reduce. Only used to fill the tables.
Element slow_multiply(std::uint32_t a, std::uint32_t b, unsigned word_bits,
                      std::uint32_t polynomial) noexcept {
  std::uint32_t product = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) product ^= a;
    a <<= 1;
    if ((a >> word_bits) != 0) a ^= polynomial;
  }
  return static_cast<Element>(product);
}

// Counts the distinct powers of g.
std::uint32_t order_of(std::uint32_t g, unsigned word_bits, std::uint32_t polynomial) noexcept {
  const std::uint32_t order = (1U << word_bits) - 1;
  std::uint32_t x = g;
  for (std::uint32_t i = 1; i <= order; ++i) {
    if (x == 1) return i;
    if (x == 0) return 0;
    x = slow_multiply(x, g, word_bits, polynomial);
  }
  return 0;
}

constexpr Element tower_constant = 0xE6;
constexpr Element tower_generator = 0x102;

}  // namespace

std::uint32_t usual_polynomial(unsigned word_bits) noexcept {
  static constexpr std::array<std::uint32_t, word_bits_max + 1> table = {
      0,     0,     0x7,   0xB,    0x13,   0x25,   0x43,   0x89,   0x11D,
      0x211, 0x409, 0x805, 0x1053, 0x201B, 0x4443, 0x8003, 0x1100B};
  return word_bits < word_bits_min || word_bits > word_bits_max ? 0 : table[word_bits];
}

Result<std::shared_ptr<const Field>> Field::create(unsigned word_bits, std::uint32_t polynomial) {
  if (word_bits < word_bits_min || word_bits > word_bits_max) {
    return invalid("word_bits is ", word_bits, "; expected 2..16");
  }
  if (polynomial == 0) polynomial = usual_polynomial(word_bits);
  if ((polynomial >> word_bits) != 1) {
    return invalid("polynomial ", polynomial, " is not of degree ", word_bits,
                   "; expected its x^w term to be the highest");
  }
  // A generator exists exactly if the polynomial is irreducible. 2 is one for the usual
  // polynomials; 0x11B (AES) needs 3.
  const std::uint32_t size = 1U << word_bits;
  std::uint32_t generator = 2;
  while (generator < size && order_of(generator, word_bits, polynomial) != size - 1) {
    ++generator;
    if (generator > 64) generator = size;  // generators are dense: none below 64 means none at all
  }
  if (generator >= size) {
    return invalid("polynomial ", polynomial, " is not irreducible; expected for example ",
                   usual_polynomial(word_bits));
  }

  auto field = std::shared_ptr<Field>(new Field);
  field->word_bits_ = word_bits;
  field->polynomial_ = polynomial;
  field->size_ = size;
  field->fill_tables(static_cast<Element>(generator), [=](Element a, Element b) {
    return slow_multiply(a, b, word_bits, polynomial);
  });
  return std::shared_ptr<const Field>(std::move(field));
}

template <class Multiply>
void Field::fill_tables(Element generator, const Multiply& multiply) {
  const std::uint32_t log_of_zero = 2 * order();
  log_.resize(size_);
  exp_.assign(std::size_t{2} * log_of_zero + order() + 1, 0);
  Element x = 1;
  for (std::uint32_t i = 0; i < order(); ++i) {
    exp_[i] = exp_[i + order()] = x;
    log_[x] = i;
    x = multiply(x, generator);
  }
  log_[0] = log_of_zero;
}

std::shared_ptr<const Field> Field::tower() {
  static const std::shared_ptr<const Field> made = [] {
    const std::shared_ptr<const Field> bytes = *create(8, 0);
    const auto multiply = [&](Element x, Element y) {
      const auto low = static_cast<Element>(x & 0xFF);
      const auto high = static_cast<Element>(x >> 8);
      const auto low_y = static_cast<Element>(y & 0xFF);
      const auto high_y = static_cast<Element>(y >> 8);
      const Element squares = bytes->multiply(high, high_y);  // times u^2 = u + constant
      const auto low_sum = static_cast<Element>(bytes->multiply(low, low_y) ^
                                                bytes->multiply(squares, tower_constant));
      const auto high_sum = static_cast<Element>(bytes->multiply(low, high_y) ^
                                                 bytes->multiply(high, low_y) ^ squares);
      return static_cast<Element>(low_sum | high_sum << 8);
    };
    auto field = std::shared_ptr<Field>(new Field);
    field->word_bits_ = 16;
    field->polynomial_ = bytes->polynomial();
    field->size_ = 1U << 16;
    field->fill_tables(tower_generator, multiply);
    return std::shared_ptr<const Field>(std::move(field));
  }();
  return made;
}

Element Field::power(Element a, std::uint64_t exponent) const noexcept {
  if (exponent == 0) return 1;
  if (a == 0) return 0;
  return exp_[log_[a] * (exponent % order()) % order()];
}

}  // namespace calpe::gf
