// SPDX-License-Identifier: Apache-2.0
// Arithmetic instructions, with the formulas of the PTX ISA.
#include <cstring>

#include "ptx_interpreter/ptx_lanes.hpp"

namespace calpe::ptx {

namespace {

struct Copy {
  template <class T>
  static T of(T a) {
    return a;
  }
};
struct Not {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
struct NotPredicate {
  template <class T>
  static T of(T a) {
    return a ^ 1;
  }
};
struct Negate {
  template <class T>
  static T of(T a) {
    return static_cast<T>(T{0} - a);
  }
};
struct Add {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Subtract {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a - b);
  }
};
struct And {
  template <class T>
  static T of(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return a ^ b;
  }
};
struct MultiplyLow {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(Wide<T>{a} * b);
  }
};
struct MultiplyAddLow {
  template <class T>
  static T of(T a, T b, T c) {
    return static_cast<T>(Wide<T>{a} * b + c);
  }
};
struct Smaller {
  template <class T>
  static T of(T a, T b) {
    return std::min(a, b);
  }
};
struct Larger {
  template <class T>
  static T of(T a, T b) {
    return std::max(a, b);
  }
};
// Division by 0 is unspecified on devices; here it gives all ones, as on most of them.
struct Divide {
  template <class T>
  static T of(T a, T b) {
    return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  static T of(T a, T b) {
    return b == 0 ? a : static_cast<T>(a % b);
  }
};
struct ShiftLeft {
  template <class T>
  static T of(T a, std::uint32_t b) {
    return b >= bits_of<T> ? T{0} : static_cast<T>(a << b);
  }
};
struct ShiftRight {
  template <class T>
  static T of(T a, std::uint32_t b) {
    return b >= bits_of<T> ? T{0} : static_cast<T>(a >> b);
  }
};
struct ShiftRightSigned {
  template <class T>
  static T of(T a, std::uint32_t b) {
    return static_cast<T>(static_cast<Signed<T>>(a) >> std::min(b, bits_of<T> - 1));
  }
};

template <class T>
using SignedWide = std::conditional_t<sizeof(T) == 2, std::int32_t, std::int64_t>;

// d has twice the bits, and so has c of mad.
template <class T, bool is_signed, bool adds>
void multiply_wide(const Step& step, const Lanes& lanes) {
  using W = Wide<T>;
  const T* a = step.source<T>(0);
  const T* b = step.source<T>(1);
  const W* c = step.source<W>(adds ? 2 : 0);
  for_lanes(step.target<W>(), lanes, [=](std::size_t i) {
    W product = 0;
    if constexpr (is_signed) {
      product = static_cast<W>(SignedWide<T>{static_cast<Signed<T>>(a[i])} *
                               static_cast<Signed<T>>(b[i]));
    } else {
      product = W{a[i]} * b[i];
    }
    if constexpr (adds) product = static_cast<W>(product + c[i]);
    return product;
  });
}

struct MultiplyHigh {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>((Wide<T>{a} * b) >> bits_of<T>);
  }
};

template <class T>
void select(const Step& step, const Lanes& lanes) {
  const T* a = step.source<T>(0);
  const T* b = step.source<T>(1);
  const std::uint8_t* c = step.source<std::uint8_t>(2);
  for_lanes(step.target<T>(), lanes, [=](std::size_t i) { return c[i] != 0 ? a[i] : b[i]; });
}

template <class T>  // signed for integers
void compare(const Step& step, const Lanes& lanes) {
  const T* a = step.source<T>(0);
  const T* b = step.source<T>(1);
  const auto run = [&](auto holds) {
    for_lanes(step.target<std::uint8_t>(), lanes,
              [=](std::size_t i) { return static_cast<std::uint8_t>(holds(a[i], b[i])); });
  };
  switch (step.instruction->compare) {
    case Compare::eq:
      return run([](T x, T y) { return x == y; });
    case Compare::ne:
      return run([](T x, T y) { return x != y; });
    case Compare::lt:
      return run([](T x, T y) { return x < y; });
    case Compare::le:
      return run([](T x, T y) { return x <= y; });
    case Compare::gt:
      return run([](T x, T y) { return x > y; });
    case Compare::ge:
      return run([](T x, T y) { return x >= y; });
  }
}

template <class F>
Operation unary_of(unsigned bytes) {
  switch (bytes) {
    case 1:
      return unary<F, std::uint8_t>;
    case 2:
      return unary<F, std::uint16_t>;
    case 4:
      return unary<F, std::uint32_t>;
    default:
      return unary<F, std::uint64_t>;
  }
}
template <class F>
Operation binary_of(unsigned bytes) {
  switch (bytes) {
    case 2:
      return binary<F, std::uint16_t>;
    case 4:
      return binary<F, std::uint32_t>;
    default:
      return binary<F, std::uint64_t>;
  }
}
template <class F>
Operation logic_of(unsigned bytes) {
  return bytes == 1 ? binary<F, std::uint8_t> : binary_of<F>(bytes);
}
template <class F>
Operation signed_binary_of(unsigned bytes) {
  switch (bytes) {
    case 2:
      return binary<F, std::int16_t>;
    case 4:
      return binary<F, std::int32_t>;
    default:
      return binary<F, std::int64_t>;
  }
}
template <class F>
Operation shift_of(unsigned bytes) {
  switch (bytes) {
    case 2:
      return shift<F, std::uint16_t>;
    case 4:
      return shift<F, std::uint32_t>;
    default:
      return shift<F, std::uint64_t>;
  }
}

// Goes through 64 bits: only the bits of a source's type count, and a target's register may be
// wider than its type.
std::uint64_t read_as(const std::byte* at, std::size_t i, unsigned register_bytes, Type type) {
  std::uint64_t value = 0;
  std::memcpy(&value, at + i * register_bytes, register_bytes);
  if (type.bytes == 8) return value;
  const unsigned unused = 64 - 8 * type.bytes;
  value <<= unused;
  if (type.kind != Kind::integer) return value >> unused;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> unused);
}

void convert(const Step& step, const Lanes& lanes) {
  const Instruction& instruction = *step.instruction;
  for (std::size_t i = 0; i < lanes.count; ++i) {
    if (!lanes.are_all_active && lanes.active[i] == 0) continue;
    std::uint64_t value = read_as(step.sources[0], i, step.source_widths[0], instruction.from);
    // First to the target's type, then to its register.
    std::array<std::byte, 8> bytes = {};
    std::memcpy(bytes.data(), &value, 8);
    value = read_as(bytes.data(), 0, 8, instruction.type);
    std::memcpy(step.targets[0] + i * step.target_widths[0], &value, step.target_widths[0]);
  }
}

Operation find_product(Opcode opcode, Type type) {
  const bool is_signed = type.kind == Kind::integer;
  const bool is_half = type.bytes == 2;
  switch (opcode) {
    case Opcode::mul_lo:
      return binary_of<MultiplyLow>(type.bytes);
    case Opcode::mul_hi:
      return is_half ? binary<MultiplyHigh, std::uint16_t> : binary<MultiplyHigh, std::uint32_t>;
    case Opcode::mad_lo:
      if (is_half) return ternary<MultiplyAddLow, std::uint16_t>;
      return type.bytes == 4 ? ternary<MultiplyAddLow, std::uint32_t>
                             : ternary<MultiplyAddLow, std::uint64_t>;
    case Opcode::mul_wide:
      if (is_signed) {
        return is_half ? multiply_wide<std::uint16_t, true, false>
                       : multiply_wide<std::uint32_t, true, false>;
      }
      return is_half ? multiply_wide<std::uint16_t, false, false>
                     : multiply_wide<std::uint32_t, false, false>;
    case Opcode::mad_wide:
      if (is_signed) {
        return is_half ? multiply_wide<std::uint16_t, true, true>
                       : multiply_wide<std::uint32_t, true, true>;
      }
      return is_half ? multiply_wide<std::uint16_t, false, true>
                     : multiply_wide<std::uint32_t, false, true>;
    default:
      return nullptr;
  }
}

Operation find_choice(Opcode opcode, Type type) {
  const bool is_signed = type.kind == Kind::integer;
  if (opcode == Opcode::selp) {
    if (type.bytes == 2) return select<std::uint16_t>;
    return type.bytes == 4 ? select<std::uint32_t> : select<std::uint64_t>;
  }
  if (opcode != Opcode::setp) return nullptr;
  if (type.bytes == 2) return is_signed ? compare<std::int16_t> : compare<std::uint16_t>;
  if (type.bytes == 4) return is_signed ? compare<std::int32_t> : compare<std::uint32_t>;
  return is_signed ? compare<std::int64_t> : compare<std::uint64_t>;
}

Operation find_arithmetic(Opcode opcode, Type type) {
  const unsigned bytes = type.bytes;
  const bool is_signed = type.kind == Kind::integer;
  switch (opcode) {
    case Opcode::mov:
      return unary_of<Copy>(bytes);
    case Opcode::add:
      return binary_of<Add>(bytes);
    case Opcode::sub:
      return binary_of<Subtract>(bytes);
    case Opcode::div:
      return binary_of<Divide>(bytes);
    case Opcode::rem:
      return binary_of<Remainder>(bytes);
    case Opcode::min:
      return is_signed ? signed_binary_of<Smaller>(bytes) : binary_of<Smaller>(bytes);
    case Opcode::max:
      return is_signed ? signed_binary_of<Larger>(bytes) : binary_of<Larger>(bytes);
    case Opcode::and_:
      return logic_of<And>(bytes);
    case Opcode::or_:
      return logic_of<Or>(bytes);
    case Opcode::xor_:
      return logic_of<Xor>(bytes);
    case Opcode::not_:
      return bytes == 1 ? unary<NotPredicate, std::uint8_t> : unary_of<Not>(bytes);
    case Opcode::neg:
      return unary_of<Negate>(bytes);
    case Opcode::shl:
      return shift_of<ShiftLeft>(bytes);
    case Opcode::shr:
      return is_signed ? shift_of<ShiftRightSigned>(bytes) : shift_of<ShiftRight>(bytes);
    case Opcode::cvt:
      return convert;
    default:
      return nullptr;
  }
}

}  // namespace

Operation find_operation(const Instruction& instruction) {
  if (const Operation found = find_arithmetic(instruction.opcode, instruction.type)) return found;
  if (const Operation found = find_product(instruction.opcode, instruction.type)) return found;
  if (const Operation found = find_choice(instruction.opcode, instruction.type)) return found;
  return find_bit_operation(instruction);
}

}  // namespace calpe::ptx
