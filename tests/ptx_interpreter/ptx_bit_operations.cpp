// SPDX-License-Identifier: Apache-2.0
// Instructions on single bits and bytes.
#include <array>
#include <bit>

#include "ptx_interpreter/ptx_lanes.hpp"

namespace calpe::ptx {

namespace {

// Bit i of the result is bit 4 a + 2 b + c of the table, where a, b, c are bit i of the sources.
void lop3(const Step& step, const Lanes& lanes) {
  using T = std::uint32_t;
  const T* a = step.source<T>(0);
  const T* b = step.source<T>(1);
  const T* c = step.source<T>(2);
  const unsigned table = step.instruction->table;
  std::array<T, 8> terms = {};
  for (unsigned i = 0; i < 8; ++i)
    terms[i] = (table >> i & 1) != 0 ? ~T{0} : T{0};
  for_lanes(step.target<T>(), lanes, [=](std::size_t i) {
    const T x = a[i];
    const T y = b[i];
    const T z = c[i];
    const T low =
        (~y & ((~z & terms[0]) | (z & terms[1]))) | (y & ((~z & terms[2]) | (z & terms[3])));
    const T high =
        (~y & ((~z & terms[4]) | (z & terms[5]))) | (y & ((~z & terms[6]) | (z & terms[7])));
    return (~x & low) | (x & high);
  });
}

// The two tables that coding kernels use, in two operations instead of two dozen.
struct Xor3 {
  static constexpr unsigned table = 0x96;
  template <class T>
  static T of(T a, T b, T c) {
    return a ^ b ^ c;
  }
};
struct AndXor {
  static constexpr unsigned table = 0x6A;
  template <class T>
  static T of(T a, T b, T c) {
    return (a & b) ^ c;
  }
};

// Byte t of the result is byte (s & 7) of b:a, where s is nibble t of the selector; with s & 8 it
// is eight copies of that byte's highest bit.
std::uint32_t permuted_byte(std::uint32_t a, std::uint32_t b, std::uint32_t selector, unsigned t) {
  const std::uint32_t s = selector >> (4 * t) & 15;
  const std::uint32_t byte = ((s & 4) != 0 ? b : a) >> (8 * (s & 3)) & 0xFF;
  return ((s & 8) != 0 ? (0U - (byte >> 7)) & 0xFF : byte) << (8 * t);
}

void prmt(const Step& step, const Lanes& lanes) {
  using T = std::uint32_t;
  const T* a = step.source<T>(0);
  const T* b = step.source<T>(1);
  const T* c = step.source<T>(2);
  if (!step.is_number[2]) {
    for_lanes(step.target<T>(), lanes, [=](std::size_t i) {
      T sum = 0;
      for (unsigned t = 0; t < 4; ++t)
        sum |= permuted_byte(a[i], b[i], c[i], t);
      return sum;
    });
    return;
  }
  // One byte at a time, so that each is one vector operation.
  alignas(64) std::array<T, lanes_max> sums;
  std::fill_n(sums.begin(), lanes.count, T{0});
  for (unsigned t = 0; t < 4; ++t) {
    const T s = c[0] >> (4 * t) & 15;
    const T* from = (s & 4) != 0 ? b : a;
    const unsigned right = 8 * (s & 3);
    if ((s & 8) != 0) {
      for (std::size_t i = 0; i < lanes.count; ++i) {
        sums[i] |= ((0U - (from[i] >> right >> 7 & 1)) & 0xFF) << (8 * t);
      }
    } else {
      for (std::size_t i = 0; i < lanes.count; ++i) {
        sums[i] |= (from[i] >> right & 0xFF) << (8 * t);
      }
    }
  }
  const T* made = sums.data();
  for_lanes(step.target<T>(), lanes, [=](std::size_t i) { return made[i]; });
}

// `length` bits starting at `position`; bits beyond the highest are 0 or the sign.
template <class T, bool is_signed>
void extract(const Step& step, const Lanes& lanes) {
  const T* a = step.source<T>(0);
  const std::uint32_t* positions = step.source<std::uint32_t>(1);
  const std::uint32_t* lengths = step.source<std::uint32_t>(2);
  const unsigned first_position = positions[0];
  const unsigned first_length = lengths[0];
  // The usual case: a complete field, with two vector shifts.
  if (step.is_number[1] && step.is_number[2] && first_length > 0 &&
      first_position + first_length <= bits_of<T>) {
    using Shifted = std::conditional_t<is_signed, Signed<T>, T>;
    const unsigned left = bits_of<T> - first_position - first_length;
    const unsigned right = bits_of<T> - first_length;
    for_lanes(step.target<T>(), lanes, [=](std::size_t i) {
      return static_cast<T>(static_cast<Shifted>(static_cast<T>(a[i] << left)) >> right);
    });
    return;
  }
  for_lanes(step.target<T>(), lanes, [=](std::size_t i) -> T {
    const unsigned position = positions[i] & 0xFF;
    const unsigned length = lengths[i] & 0xFF;
    if (length == 0) return 0;
    const unsigned last = std::min(position + length - 1, bits_of<T> - 1);
    const bool sign = is_signed && (a[i] >> last & 1) != 0;
    T out = 0;
    for (unsigned bit = 0; bit < bits_of<T>; ++bit) {
      const bool is_inside = bit < length && position + bit < bits_of<T>;
      const bool value = is_inside ? (a[i] >> (position + bit) & 1) != 0 : sign;
      out |= static_cast<T>(T{value} << bit);
    }
    return out;
  });
}

template <class T>
void insert(const Step& step, const Lanes& lanes) {
  const T* a = step.source<T>(0);
  const T* b = step.source<T>(1);
  const std::uint32_t* positions = step.source<std::uint32_t>(2);
  const std::uint32_t* lengths = step.source<std::uint32_t>(3);
  for_lanes(step.target<T>(), lanes, [=](std::size_t i) {
    const unsigned position = positions[i] & 0xFF;
    const unsigned length = lengths[i] & 0xFF;
    T out = b[i];
    for (unsigned bit = 0; bit < length && position + bit < bits_of<T>; ++bit) {
      const T mask = static_cast<T>(T{1} << (position + bit));
      out = (a[i] >> bit & 1) != 0 ? static_cast<T>(out | mask) : static_cast<T>(out & ~mask);
    }
    return out;
  });
}

// The upper half of b:a after a left shift, or the lower half after a right shift.
template <bool is_left>
void funnel(const Step& step, const Lanes& lanes) {
  const std::uint32_t* a = step.source<std::uint32_t>(0);
  const std::uint32_t* b = step.source<std::uint32_t>(1);
  const std::uint32_t* c = step.source<std::uint32_t>(2);
  const bool clamps = step.instruction->table != 0;
  for_lanes(step.target<std::uint32_t>(), lanes, [=](std::size_t i) {
    const unsigned count = clamps ? std::min<std::uint32_t>(c[i], 32) : c[i] & 31;
    const std::uint64_t both = std::uint64_t{b[i]} << 32 | a[i];
    return static_cast<std::uint32_t>(is_left ? both << count >> 32 : both >> count);
  });
}

template <class T>
void count_bits(const Step& step, const Lanes& lanes) {
  const T* a = step.source<T>(0);
  for_lanes(step.target<std::uint32_t>(), lanes,
            [=](std::size_t i) { return static_cast<std::uint32_t>(std::popcount(a[i])); });
}

struct Reverse {
  template <class T>
  static T of(T a) {
    T out = 0;
    for (unsigned bit = 0; bit < bits_of<T>; ++bit) {
      out = static_cast<T>(out << 1 | (a >> bit & 1));
    }
    return out;
  }
};
}  // namespace

Operation find_bit_operation(const Instruction& instruction) {
  const bool is_word = instruction.type.bytes == 4;
  const bool is_signed = instruction.type.kind == Kind::integer;
  switch (instruction.opcode) {
    case Opcode::lop3:
      if (instruction.table == Xor3::table) return ternary<Xor3, std::uint32_t>;
      if (instruction.table == AndXor::table) return ternary<AndXor, std::uint32_t>;
      return lop3;
    case Opcode::prmt:
      return prmt;
    case Opcode::shf_l:
      return funnel<true>;
    case Opcode::shf_r:
      return funnel<false>;
    case Opcode::bfi:
      return is_word ? insert<std::uint32_t> : insert<std::uint64_t>;
    case Opcode::popc:
      return is_word ? count_bits<std::uint32_t> : count_bits<std::uint64_t>;
    case Opcode::brev:
      return is_word ? unary<Reverse, std::uint32_t> : unary<Reverse, std::uint64_t>;
    case Opcode::bfe:
      if (is_signed) return is_word ? extract<std::uint32_t, true> : extract<std::uint64_t, true>;
      return is_word ? extract<std::uint32_t, false> : extract<std::uint64_t, false>;
    default:
      return nullptr;
  }
}

}  // namespace calpe::ptx
