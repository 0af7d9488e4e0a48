// SPDX-License-Identifier: Apache-2.0
// The loops of all CPU kernels, templates over a Vector class. Each kernel file defines its Vector
// in an anonymous namespace, so that instantiations have internal linkage and code for one
// instruction set is never linked in place of another. Uses only <cstddef> and <cstring> of the
// standard library.
//
// A Vector offers
//   Register      `bytes` bytes of a shard, with load, store, load_part, store_part, zero and add
//   Operand       an input vector, made ready by prepare() for products with many coefficients
//   multiply<First>(sums, table, x)         sums[u] += c * x[u], or = when First
//   multiply(sums, table_x, x, table_y, y)  the same for two inputs at once, when `pairs`
//   unroll(rows)  vectors of each input in flight, so that rows * unroll sums fit the registers
//   stream        a store past the caches, aligned; not every instruction set has one
//   note(n, a, b) n with every bit set in which a and b differ; is_zero(n) tells if there is none
#pragma once
#include <cstddef>
#include <cstring>

#include "backend/cpu/cpu_kernels.hpp"

// The arrays of registers below stay in registers only if every loop over them is unrolled.
#if defined(__clang__)
#define CALPE_UNROLL _Pragma("unroll")
#else
#define CALPE_UNROLL _Pragma("GCC unroll 16")
#endif
#define CALPE_INLINE inline __attribute__((always_inline))
#define CALPE_INLINE_LAMBDA __attribute__((always_inline))

namespace calpe::backend::cpu {

template <class V>
constexpr std::size_t table_bytes = table_entry_bytes(V::table_kind);

// load_part and store_part for instruction sets without masks. Bytes beyond `count` may be on an
// inaccessible page, so the part is copied through the stack.
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

// multiply() by half-byte lookup, for instruction sets that add two registers at a time. Adding one
// half after the other needs one table register and one temporary less, which keeps 8 sums in 16
// registers. keep_order() is an empty asm statement that stops g++ from adding both halves first.
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

template <class V>
CALPE_INLINE typename V::Register times_nibbles(const std::byte* table, typename V::Register x) {
  const typename V::Operand operand = V::prepare(x);
  return V::add(V::look_up(V::load_table(table), operand.low),
                V::look_up(V::load_table(table + 16), operand.high));
}

// How a column of vectors is read and written: whole vectors, past the caches, or the first `count`
// bytes of one.
// bytes_ahead: prefetch distance of the inputs. Prefetching helps if they come from beyond the
// core's own cache, as with streamed outputs, and costs otherwise.
template <class V>
struct WholeAccess {
  static constexpr std::size_t bytes_ahead = 0;
  CALPE_INLINE typename V::Register load(const std::byte* from) const { return V::load(from); }
  CALPE_INLINE void store(std::byte* to, typename V::Register v) const { V::store(to, v); }
};

template <class V>
struct StreamAccess {
  static constexpr std::size_t bytes_ahead = 512;
  CALPE_INLINE typename V::Register load(const std::byte* from) const { return V::load(from); }
  CALPE_INLINE void store(std::byte* to, typename V::Register v) const { V::stream(to, v); }
};

template <class V>
struct PartAccess {
  static constexpr std::size_t bytes_ahead = 0;
  std::size_t count;  // 1 .. V::bytes
  CALPE_INLINE typename V::Register load(const std::byte* from) const {
    return V::load_part(from, count);
  }
  CALPE_INLINE void store(std::byte* to, typename V::Register v) const {
    V::store_part(to, v, count);
  }
};

enum class Write { over, add, stream };

// The sums of one column: Rows products of every input and, with HasSum, a first row that is a
// plain sum.
template <class V, std::size_t Rows, std::size_t Unroll, bool HasSum, class Access>
struct MatrixColumn {
  using Register = typename V::Register;
  using Operand = typename V::Operand;
  static constexpr std::size_t input_step = (Rows + HasSum) * table_bytes<V>;

  Register sum[HasSum ? Unroll : 1];
  Register products[Rows > 0 ? Rows : 1][Unroll];
  const std::byte* const* inputs;
  const std::byte* tables;  // entries of the next input
  std::size_t position;
  Access access;

  template <std::size_t N>
  CALPE_INLINE void load(Register (&x)[N], const std::byte* from) const {
    CALPE_UNROLL
    for (std::size_t u = 0; u < N; ++u) {
      x[u] = access.load(from + position + u * V::bytes);
      if constexpr (Access::bytes_ahead > 0) {
        __builtin_prefetch(from + position + u * V::bytes + Access::bytes_ahead);
      }
    }
  }
  static CALPE_INLINE void prepare(Operand (&to)[Unroll], const Register (&x)[Unroll]) {
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u)
      to[u] = V::prepare(x[u]);
  }

  template <bool First, bool Summed>
  CALPE_INLINE void take_one(std::size_t i) {
    Register x[Unroll];
    load(x, inputs[i]);
    if constexpr (HasSum && Summed) {
      CALPE_UNROLL
      for (std::size_t u = 0; u < Unroll; ++u)
        sum[u] = First ? x[u] : V::add(sum[u], x[u]);
    }
    Operand operand[Unroll];
    prepare(operand, x);
    CALPE_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      V::template multiply<First>(products[r], tables + (r + HasSum) * table_bytes<V>, operand);
    }
    tables += input_step;
  }

  // One or both of the two inputs count for the sum.
  template <bool First, bool SumsOne, bool SumsTwo>
  CALPE_INLINE void take_two(std::size_t i) {
    Register x[Unroll];
    Register y[Unroll];
    load(x, inputs[i]);
    load(y, inputs[i + 1]);
    if constexpr (HasSum && SumsTwo) {
      CALPE_UNROLL
      for (std::size_t u = 0; u < Unroll; ++u)
        sum[u] = First ? V::add(x[u], y[u]) : V::add(sum[u], x[u], y[u]);
    } else if constexpr (HasSum && SumsOne) {
      CALPE_UNROLL
      for (std::size_t u = 0; u < Unroll; ++u)
        sum[u] = First ? x[u] : V::add(sum[u], x[u]);
    }
    Operand x_operand[Unroll];
    Operand y_operand[Unroll];
    prepare(x_operand, x);
    prepare(y_operand, y);
    CALPE_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const std::byte* table = tables + (r + HasSum) * table_bytes<V>;
      V::template multiply<First>(products[r], table, x_operand, table + input_step, y_operand);
    }
    tables += 2 * input_step;
  }

  // All inputs, in pairs where possible; the first `summed` count for the sum. First: overwrites,
  // and at least one input is summed.
  template <bool First>
  CALPE_INLINE void take_all(std::size_t summed, std::size_t count) {
    std::size_t i = 0;
    if constexpr (!V::pairs) {
      if constexpr (First) take_one<true, true>(i++);
      for (; i < summed; ++i)
        take_one<false, true>(i);
    } else {
      if constexpr (First) {
        if (summed >= 2) {
          take_two<true, true, true>(0);
          i = 2;
        } else {
          take_one<true, true>(0);
          i = 1;
        }
      }
      for (; i + 2 <= summed; i += 2)
        take_two<false, true, true>(i);
      if (HasSum && i < summed && summed < count) {
        take_two<false, true, false>(i);
        i += 2;
      } else if (i < summed) {
        take_one<false, true>(i++);
      }
      for (; HasSum && i + 2 <= count; i += 2)
        take_two<false, false, false>(i);
    }
    for (; HasSum && i < count; ++i)
      take_one<false, false>(i);
  }
};

// outputs[r] == the product of `inputs`, for one column of every row; notes differences.
template <class V, std::size_t Rows, std::size_t Unroll, bool HasSum, class Access>
CALPE_INLINE void compare_column(const MatrixPart& part, const std::byte* const* inputs,
                                 const std::byte* const* outputs, std::size_t position,
                                 Access access, typename V::Register& noted) {
  MatrixColumn<V, Rows, Unroll, HasSum, Access> column;
  column.inputs = inputs;
  column.tables = part.tables;
  column.position = position;
  column.access = access;
  column.template take_all<true>(HasSum ? part.summed : part.input_count, part.input_count);
  const auto compare = [&](std::size_t row, const typename V::Register(&sums)[Unroll]) {
    typename V::Register stored[Unroll];
    column.load(stored, outputs[row]);
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u)
      noted = V::note(noted, stored[u], sums[u]);
  };
  if constexpr (HasSum) compare(0, column.sum);
  CALPE_UNROLL
  for (std::size_t r = 0; r < Rows; ++r)
    compare(r + HasSum, column.products[r]);
}

// Sums that take rows are for decoding, and are not compared.
template <class V, std::size_t Rows, bool HasSum>
[[gnu::noinline]] bool compare_pass(const MatrixPart& part, const std::byte* const* inputs,
                                    const std::byte* const* outputs, std::size_t begin,
                                    std::size_t end) {
  constexpr std::size_t unroll = V::unroll(Rows + HasSum);
  typename V::Register noted = V::zero();
  std::size_t position = begin;
  for (; end - position >= unroll * V::bytes; position += unroll * V::bytes) {
    compare_column<V, Rows, unroll, HasSum>(part, inputs, outputs, position, WholeAccess<V>{},
                                            noted);
  }
  while (position < end) {
    if constexpr (V::bytes > 1) {
      const std::size_t count = end - position < V::bytes ? end - position : V::bytes;
      compare_column<V, Rows, 1, HasSum>(part, inputs, outputs, position, PartAccess<V>{count},
                                         noted);
      position += count;
    } else {
      compare_column<V, Rows, 1, HasSum>(part, inputs, outputs, position, WholeAccess<V>{}, noted);
      ++position;
    }
  }
  return V::is_zero(noted);
}

template <class V, std::size_t Rows, std::size_t Unroll, bool HasSum, bool Accumulate, class Access>
CALPE_INLINE void matrix_column(const MatrixPart& part, const std::byte* const* inputs,
                                std::byte* const* outputs, std::size_t position, Access access) {
  MatrixColumn<V, Rows, Unroll, HasSum, Access> column;
  column.inputs = inputs;
  column.tables = part.tables;
  column.position = position;
  column.access = access;
  // Copied before any store, because the compiler must assume that stored bytes may alias a
  // pointer.
  std::byte* to[Rows + HasSum];
  CALPE_UNROLL
  for (std::size_t r = 0; r < Rows + HasSum; ++r)
    to[r] = outputs[r] + position;
  if constexpr (Accumulate) {
    if constexpr (HasSum) column.load(column.sum, outputs[0]);
    CALPE_UNROLL
    for (std::size_t r = 0; r < Rows; ++r)
      column.load(column.products[r], outputs[r + HasSum]);
  }
  // Without a sum, `summed` has no effect, so treat all inputs as summed.
  column.template take_all<!Accumulate>(HasSum ? part.summed : part.input_count, part.input_count);
  if constexpr (HasSum) {
    if (part.sum_takes_rows) {
      CALPE_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        CALPE_UNROLL
        for (std::size_t u = 0; u < Unroll; ++u)
          column.sum[u] = V::add(column.sum[u], column.products[r][u]);
      }
    }
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u)
      access.store(to[0] + u * V::bytes, column.sum[u]);
  }
  CALPE_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u)
      access.store(to[r + HasSum] + u * V::bytes, column.products[r][u]);
  }
}

// noinline: otherwise g++ moves the loops to a function of their own, one jump further away.
template <class V, std::size_t Rows, bool HasSum, Write How>
[[gnu::noinline]] void matrix_pass(const MatrixPart& part, const std::byte* const* inputs,
                                   std::byte* const* outputs, std::size_t begin, std::size_t end) {
  constexpr bool accumulate = How == Write::add;
  if (part.input_count == 0) {
    for (std::size_t r = 0; !accumulate && r < Rows + HasSum; ++r) {
      std::memset(outputs[r] + begin, 0, end - begin);
    }
    return;
  }
  constexpr std::size_t unroll = V::unroll(Rows + HasSum);
  std::size_t position = begin;
  const auto whole = [] {
    if constexpr (How == Write::stream) {
      return StreamAccess<V>{};
    } else {
      return WholeAccess<V>{};
    }
  }();
  for (; end - position >= unroll * V::bytes; position += unroll * V::bytes) {
    matrix_column<V, Rows, unroll, HasSum, accumulate>(part, inputs, outputs, position, whole);
  }
  if constexpr (How == Write::stream) {
    // The end of a long block uses cached stores: a copy of this code in every streaming kernel
    // would take 0.2 MB.
    if (position == end) return;
    matrix_pass<V, Rows, HasSum, Write::over>(part, inputs, outputs, position, end);
  } else {
    if constexpr (unroll > 1) {
      for (; end - position >= V::bytes; position += V::bytes) {
        matrix_column<V, Rows, 1, HasSum, accumulate>(part, inputs, outputs, position, whole);
      }
    }
    if constexpr (V::bytes > 1) {
      if (position < end) {
        matrix_column<V, Rows, 1, HasSum, accumulate>(part, inputs, outputs, position,
                                                      PartAccess<V>{end - position});
      }
    }
  }
}

// outputs[r] += c(r) * sum of the inputs: updates parity in one pass. Reads all rows before writing
// any, because shards are often whole pages apart and a write delays later reads whose address has
// the same last 12 bits.
template <class V, std::size_t Inputs, std::size_t Rows, std::size_t Unroll, class Access>
CALPE_INLINE void change_column(const std::byte* const (&inputs)[Inputs],
                                std::byte* const (&outputs)[Rows], const std::byte* tables,
                                std::size_t position, Access access) {
  typename V::Operand change[Unroll];
  typename V::Register sums[Rows][Unroll];
  CALPE_UNROLL
  for (std::size_t u = 0; u < Unroll; ++u) {
    const std::size_t at = position + u * V::bytes;
    typename V::Register sum = access.load(inputs[0] + at);
    if constexpr (Inputs == 2) sum = V::add(sum, access.load(inputs[1] + at));
    change[u] = V::prepare(sum);
  }
  CALPE_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u)
      sums[r][u] = access.load(outputs[r] + position + u * V::bytes);
    V::template multiply<false>(sums[r], tables + r * table_bytes<V>, change);
  }
  CALPE_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    CALPE_UNROLL
    for (std::size_t u = 0; u < Unroll; ++u)
      access.store(outputs[r] + position + u * V::bytes, sums[r][u]);
  }
}

template <class V, std::size_t Inputs, std::size_t Rows>
void change_pass(const MatrixPart& part, const std::byte* const* from, std::byte* const* to,
                 std::size_t begin, std::size_t end) {
  constexpr std::size_t unroll = Rows * 2 + 4 <= V::registers ? 2 : 1;  // 4 is slower
  const std::byte* const tables = part.tables;
  const std::byte* inputs[Inputs];
  std::byte* outputs[Rows];
  CALPE_UNROLL
  for (std::size_t i = 0; i < Inputs; ++i)
    inputs[i] = from[i];
  CALPE_UNROLL
  for (std::size_t r = 0; r < Rows; ++r)
    outputs[r] = to[r];
  std::size_t position = begin;
  for (; end - position >= unroll * V::bytes; position += unroll * V::bytes) {
    change_column<V, Inputs, Rows, unroll>(inputs, outputs, tables, position, WholeAccess<V>{});
  }
  for (; end - position >= V::bytes; position += V::bytes)
    change_column<V, Inputs, Rows, 1>(inputs, outputs, tables, position, WholeAccess<V>{});
  if constexpr (V::bytes > 1) {
    if (position < end) {
      change_column<V, Inputs, Rows, 1>(inputs, outputs, tables, position,
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

template <class V>
concept Streams = requires(std::byte* to, typename V::Register v) {
  V::stream(to, v);
};

template <class V, std::size_t Rows, bool HasSum>
constexpr MatrixKernels matrix_kernels() {
  MatrixKernels kernels{&matrix_pass<V, Rows, HasSum, Write::over>,
                        &matrix_pass<V, Rows, HasSum, Write::add>, nullptr};
  if constexpr (Streams<V>) kernels.stream = &matrix_pass<V, Rows, HasSum, Write::stream>;
  return kernels;
}

template <class V, std::size_t Rows>
constexpr void fill_passes(CpuKernels& kernels) {
  if constexpr (Rows > 0) {
    kernels.products[Rows] = matrix_kernels<V, Rows, false>();
    kernels.sum_and_products[Rows] = matrix_kernels<V, Rows - 1, true>();
    if constexpr (Rows <= compare_rows_max) {
      kernels.compare[Rows] = &compare_pass<V, Rows, false>;
      kernels.compare_sum[Rows] = &compare_pass<V, Rows - 1, true>;
    }
    if constexpr (Rows <= change_rows_max) {
      kernels.change[1][Rows] = &change_pass<V, 1, Rows>;
      kernels.change[2][Rows] = &change_pass<V, 2, Rows>;
    }
    fill_passes<V, Rows - 1>(kernels);
  }
}

template <class Multiply, class Xor = Multiply>
constexpr CpuKernels make_matrix_kernels(const char* name, const char* description) {
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
  if constexpr (Streams<Multiply>) kernels.fence = &Multiply::fence;
  kernels.xor_into = &xor_pass<Xor, false>;
  kernels.xor_add = &xor_pass<Xor, true>;
  return kernels;
}

}  // namespace calpe::backend::cpu
