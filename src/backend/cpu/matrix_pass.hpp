// SPDX-License-Identifier: Apache-2.0
// The loops of all CPU kernels, written once over a Vector class that each kernel file defines in
// an anonymous namespace: instantiations then have internal linkage, and code for one instruction
// set can never be linked in place of another's. No standard library beyond <cstddef> and
// <cstring>.
//
// A Vector offers
//   Register      `bytes` bytes of a shard, with load, store, load_part, store_part, zero and add
//   Operand       an input vector, made ready by prepare() for products with many coefficients
//   multiply<First>(sums, table, x)         sums[u] += c * x[u], or = when First
//   multiply(sums, table_x, x, table_y, y)  the same for two inputs at once, when `pairs`
//   unroll(rows)  vectors of each input in flight, so that rows * unroll sums fit the registers
#pragma once
#include <cstddef>
#include <cstring>

#include "backend/cpu/cpu_kernels.hpp"

// The arrays of registers below are registers only if every loop over them disappears.
#if defined(__clang__)
#define CALPE_UNROLL _Pragma("unroll")
#else
#define CALPE_UNROLL _Pragma("GCC unroll 16")
#endif
#define CALPE_INLINE inline __attribute__((always_inline))

namespace calpe::backend::cpu {

template <class V>
constexpr std::size_t table_bytes = table_entry_bytes(V::table_kind);

// load_part and store_part for instruction sets without masks: bytes beyond `count` may lie on a
// page that is not ours, so the part goes over the stack.
template <class V>
CALPE_INLINE typename V::Register load_staged(const std::byte* from, std::size_t count) {
  alignas(V::bytes) std::byte staged[V::bytes] = {};
  std::memcpy(staged, from, count);
  return V::load(staged);
}

template <class V>
CALPE_INLINE void store_staged(std::byte* to, typename V::Register v, std::size_t count) {
  alignas(V::bytes) std::byte staged[V::bytes];
  V::store(staged, v);
  std::memcpy(to, staged, count);
}

// multiply() by lookup of half bytes, for instruction sets that add two registers at a time. One
// half after the other: it needs one table register and one temporary less than adding both halves
// first, which is what keeps 8 sums in 16 registers. keep_order() is an empty asm statement;
// without it g++ adds both halves first again.
template <class V, bool First, std::size_t Unroll>
CALPE_INLINE void multiply_nibbles(typename V::Register (&sums)[Unroll], const std::byte* table,
                                   const typename V::Operand (&x)[Unroll]) {
  const typename V::Register low = V::load_table(table);
  CALPE_UNROLL
  for (std::size_t u = 0; u < Unroll; ++u) {
    const typename V::Register product = V::look_up(low, x[u].low);
    sums[u] = First ? product : V::add(sums[u], product);
    V::keep_order(sums[u]);
  }
  const typename V::Register high = V::load_table(table + 16);
  CALPE_UNROLL
  for (std::size_t u = 0; u < Unroll; ++u) {
    sums[u] = V::add(sums[u], V::look_up(high, x[u].high));
  }
}

// How a column of vectors is read and written: whole vectors, or the first `count` bytes of one.
template <class V>
struct WholeAccess {
  CALPE_INLINE typename V::Register load(const std::byte* from) const { return V::load(from); }
  CALPE_INLINE void store(std::byte* to, typename V::Register v) const { V::store(to, v); }
};

template <class V>
struct PartAccess {
  std::size_t count;  // 1 .. V::bytes - 1
  CALPE_INLINE typename V::Register load(const std::byte* from) const {
    return V::load_part(from, count);
  }
  CALPE_INLINE void store(std::byte* to, typename V::Register v) const {
    V::store_part(to, v, count);
  }
};

template <class V, std::size_t Unroll, class Access>
CALPE_INLINE void load_operands(typename V::Operand (&x)[Unroll], const std::byte* from,
                                Access access) {
  CALPE_UNROLL
  for (std::size_t u = 0; u < Unroll; ++u) {
    x[u] = V::prepare(access.load(from + u * V::bytes));
  }
}

// One input times the Rows coefficients at `tables`.
template <class V, bool First, std::size_t Rows, std::size_t Unroll, class Access>
CALPE_INLINE void multiply_input(typename V::Register (&sums)[Rows][Unroll],
                                 const std::byte* tables, const std::byte* from, Access access) {
  typename V::Operand x[Unroll];
  load_operands<V>(x, from, access);
  CALPE_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    V::template multiply<First>(sums[r], tables + r * table_bytes<V>, x);
  }
}

// The sums over all inputs for Rows outputs and Unroll vectors at `position`.
template <class V, std::size_t Rows, std::size_t Unroll, bool Accumulate, class Access>
CALPE_INLINE void matrix_column(const std::byte* const* inputs, std::size_t input_count,
                                std::byte* const* outputs, const std::byte* tables,
                                std::size_t position, Access access) {
  constexpr std::size_t input_step = Rows * table_bytes<V>;
  typename V::Register sums[Rows][Unroll];
  std::size_t i = 0;
  if constexpr (Accumulate) {
    CALPE_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      CALPE_UNROLL
      for (std::size_t u = 0; u < Unroll; ++u) {
        sums[r][u] = access.load(outputs[r] + position + u * V::bytes);
      }
    }
  } else {
    multiply_input<V, true>(sums, tables, inputs[0] + position, access);
    i = 1;
  }
  tables += i * input_step;
  if constexpr (V::pairs) {
    for (; i + 2 <= input_count; i += 2, tables += 2 * input_step) {
      typename V::Operand x[Unroll];
      typename V::Operand y[Unroll];
      load_operands<V>(x, inputs[i] + position, access);
      load_operands<V>(y, inputs[i + 1] + position, access);
      CALPE_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const std::byte* table = tables + r * table_bytes<V>;
        V::multiply(sums[r], table, x, table + input_step, y);
      }
    }
  }
  for (; i < input_count; ++i, tables += input_step) {
    multiply_input<V, false>(sums, tables, inputs[i] + position, access);
  }
  CALPE_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u) {
      access.store(outputs[r] + position + u * V::bytes, sums[r][u]);
    }
  }
}

template <class V, std::size_t Rows, bool Accumulate>
void matrix_pass(const std::byte* const* inputs, std::size_t input_count, std::byte* const* outputs,
                 const std::byte* tables, std::size_t begin, std::size_t end) {
  if (input_count == 0) {
    for (std::size_t r = 0; !Accumulate && r < Rows; ++r) {
      std::memset(outputs[r] + begin, 0, end - begin);
    }
    return;
  }
  constexpr std::size_t unroll = V::unroll(Rows);
  std::size_t position = begin;
  for (; end - position >= unroll * V::bytes; position += unroll * V::bytes) {
    matrix_column<V, Rows, unroll, Accumulate>(inputs, input_count, outputs, tables, position,
                                               WholeAccess<V>{});
  }
  if constexpr (unroll > 1) {
    for (; end - position >= V::bytes; position += V::bytes) {
      matrix_column<V, Rows, 1, Accumulate>(inputs, input_count, outputs, tables, position,
                                            WholeAccess<V>{});
    }
  }
  if constexpr (V::bytes > 1) {
    if (position < end) {
      matrix_column<V, Rows, 1, Accumulate>(inputs, input_count, outputs, tables, position,
                                            PartAccess<V>{end - position});
    }
  }
}

template <class V, std::size_t Unroll, bool Accumulate, class Access>
CALPE_INLINE void xor_column(const std::byte* const* sources, std::size_t source_count,
                             std::byte* output, std::size_t position, Access access) {
  typename V::Register sums[Unroll];
  CALPE_UNROLL
  for (std::size_t u = 0; u < Unroll; ++u) {
    sums[u] = Accumulate ? access.load(output + position + u * V::bytes) : V::zero();
  }
  std::size_t i = 0;
  for (; i + 2 <= source_count; i += 2) {
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u) {
      sums[u] = V::add(sums[u], access.load(sources[i] + position + u * V::bytes),
                       access.load(sources[i + 1] + position + u * V::bytes));
    }
  }
  if (i < source_count) {
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u) {
      sums[u] = V::add(sums[u], access.load(sources[i] + position + u * V::bytes));
    }
  }
  CALPE_UNROLL
  for (std::size_t u = 0; u < Unroll; ++u) {
    access.store(output + position + u * V::bytes, sums[u]);
  }
}

template <class V, bool Accumulate>
void xor_pass(const std::byte* const* sources, std::size_t source_count, std::byte* output,
              std::size_t bytes) {
  constexpr std::size_t unroll = 4;
  std::size_t position = 0;
  for (; bytes - position >= unroll * V::bytes; position += unroll * V::bytes) {
    xor_column<V, unroll, Accumulate>(sources, source_count, output, position, WholeAccess<V>{});
  }
  for (; bytes - position >= V::bytes; position += V::bytes) {
    xor_column<V, 1, Accumulate>(sources, source_count, output, position, WholeAccess<V>{});
  }
  if (position < bytes) {
    xor_column<V, 1, Accumulate>(sources, source_count, output, position,
                                 PartAccess<V>{bytes - position});
  }
}

template <class V, std::size_t Rows>
constexpr void fill_passes(CpuKernels& kernels) {
  if constexpr (Rows > 0) {
    kernels.multiply[Rows] = &matrix_pass<V, Rows, false>;
    kernels.accumulate[Rows] = &matrix_pass<V, Rows, true>;
    fill_passes<V, Rows - 1>(kernels);
  }
}

// Multiply runs the matrix passes, Xor the XOR passes: the same class but for the scalar path.
template <class Multiply, class Xor = Multiply>
constexpr CpuKernels make_kernels(const char* name, const char* description) {
  CpuKernels kernels{};
  kernels.name = name;
  kernels.description = description;
  kernels.table_kind = Multiply::table_kind;
  kernels.vector_bytes = Xor::bytes;
  kernels.registers = Multiply::registers;
  kernels.three_input_xor = Multiply::three_input_xor;
  kernels.rows_max = Multiply::rows_max;
  fill_passes<Multiply, Multiply::rows_max>(kernels);
  static_assert(Multiply::rows_max <= kernel_rows_max);
  kernels.xor_into = &xor_pass<Xor, false>;
  kernels.xor_add = &xor_pass<Xor, true>;
  return kernels;
}

}  // namespace calpe::backend::cpu
