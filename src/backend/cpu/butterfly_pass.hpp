// SPDX-License-Identifier: Apache-2.0
// Passes of an additive FFT over blocks in L1: R layers of butterflies on 2^R blocks at a time, in
// registers (formulas in ir/transform.hpp). A schedule (transform_schedule.hpp) strings passes
// together to transforms of any size, so that no kernel depends on the shape of a code.
//
// A group is 2^R blocks. Its tables are the coefficients by layer, from layer 0: 2^(R-1), then
// 2^(R-2) .. 1 of them; then, for passes through, those of the way forth; then, for scaled passes,
// one scale per block.
#pragma once
#include <cstddef>

#include "backend/cpu/matrix_pass.hpp"

namespace calpe::backend::cpu {

template <class V, unsigned R>
struct GroupTables {
  const std::byte* tables;

  CALPE_INLINE explicit GroupTables(const std::byte* of) : tables(of) {}
  // Hides them from the optimiser, which would otherwise keep them all in registers and
  // spill the values. Call it for every column.
  CALPE_INLINE void hide() { asm("" : "+r"(tables)); }
  // Returns that of the butterflies of `layer` from `index` on, a multiple of 2^(layer+1).
  CALPE_INLINE const std::byte* at(unsigned layer, std::size_t index) const {
    const std::size_t before = (std::size_t{1} << R) - (std::size_t{1} << (R - layer));
    return tables + (before + (index >> (layer + 1))) * table_bytes<V>;
  }
  CALPE_INLINE const std::byte* scale(std::size_t index) const {
    return tables + ((std::size_t{1} << R) - 1 + index) * table_bytes<V>;
  }
};

// Tables of 2^R blocks from `first` on, of twice as many.
template <class V, unsigned R>
struct HalfTables {
  GroupTables<V, R + 1> whole;
  std::size_t first;

  CALPE_INLINE const std::byte* at(unsigned layer, std::size_t index) const {
    return whole.at(layer, first + index);
  }
};

// At base 0, the coefficients of every first butterfly are zero. AtZero skips these products.
template <class V, unsigned R, bool AtZero, class Tables>
CALPE_INLINE void back_radix_2(typename V::Register (&v)[std::size_t{1} << R], const Tables& c,
                               unsigned layer) {
  const std::size_t half = std::size_t{1} << layer;
  CALPE_UNROLL
  for (std::size_t b = 0; b < (std::size_t{1} << R); b += 2 * half) {
    CALPE_UNROLL
    for (std::size_t j = b; j < b + half; ++j) {
      v[j + half] = V::add(v[j + half], v[j]);
      if (!AtZero || b != 0) v[j] = V::add(v[j], V::times(c.at(layer, b), v[j + half]));
    }
  }
}

template <class V, unsigned R, bool AtZero, class Tables>
CALPE_INLINE void forth_radix_2(typename V::Register (&v)[std::size_t{1} << R], const Tables& c,
                                unsigned layer) {
  const std::size_t half = std::size_t{1} << layer;
  CALPE_UNROLL
  for (std::size_t b = 0; b < (std::size_t{1} << R); b += 2 * half) {
    CALPE_UNROLL
    for (std::size_t j = b; j < b + half; ++j) {
      if (!AtZero || b != 0) v[j] = V::add(v[j], V::times(c.at(layer, b), v[j + half]));
      v[j + half] = V::add(v[j + half], v[j]);
    }
  }
}

// Layers `layer` and the next. Each third value takes part in two additions that become one.
template <class V, unsigned R, bool AtZero, class Tables>
CALPE_INLINE void back_radix_4(typename V::Register (&v)[std::size_t{1} << R], const Tables& c,
                               unsigned layer) {
  const std::size_t step = std::size_t{1} << layer;
  CALPE_UNROLL
  for (std::size_t b = 0; b < (std::size_t{1} << R); b += 4 * step) {
    const bool skips = AtZero && b == 0;
    CALPE_UNROLL
    for (std::size_t j = b; j < b + step; ++j) {
      v[j + step] = V::add(v[j + step], v[j]);
      if (!skips) v[j] = V::add(v[j], V::times(c.at(layer, b), v[j + step]));
      v[j + 3 * step] = V::add(v[j + 3 * step], v[j + 2 * step]);
      v[j + 2 * step] =
          V::add(v[j], v[j + 2 * step], V::times(c.at(layer, b + 2 * step), v[j + 3 * step]));
      v[j + 3 * step] = V::add(v[j + step], v[j + 3 * step]);
      if (!skips) {
        v[j] = V::add(v[j], V::times(c.at(layer + 1, b), v[j + 2 * step]));
        v[j + step] = V::add(v[j + step], V::times(c.at(layer + 1, b), v[j + 3 * step]));
      }
    }
  }
}

template <class V, unsigned R, bool AtZero, class Tables>
CALPE_INLINE void forth_radix_4(typename V::Register (&v)[std::size_t{1} << R], const Tables& c,
                                unsigned layer) {
  const std::size_t step = std::size_t{1} << layer;
  CALPE_UNROLL
  for (std::size_t b = 0; b < (std::size_t{1} << R); b += 4 * step) {
    const bool skips = AtZero && b == 0;
    CALPE_UNROLL
    for (std::size_t j = b; j < b + step; ++j) {
      if (!skips) {
        v[j] = V::add(v[j], V::times(c.at(layer + 1, b), v[j + 2 * step]));
        v[j + step] = V::add(v[j + step], V::times(c.at(layer + 1, b), v[j + 3 * step]));
      }
      v[j + 3 * step] = V::add(v[j + 3 * step], v[j + step]);
      v[j + 2 * step] =
          V::add(v[j + 2 * step], v[j], V::times(c.at(layer, b + 2 * step), v[j + 3 * step]));
      v[j + 3 * step] = V::add(v[j + 3 * step], v[j + 2 * step]);
      if (!skips) v[j] = V::add(v[j], V::times(c.at(layer, b), v[j + step]));
      v[j + step] = V::add(v[j + step], v[j]);
    }
  }
}

template <class V, unsigned R, bool AtZero, class Tables>
CALPE_INLINE void back_layers(typename V::Register (&v)[std::size_t{1} << R], const Tables& c) {
  if constexpr (R == 1) {
    back_radix_2<V, R, AtZero>(v, c, 0);
  } else {
    back_radix_4<V, R, AtZero>(v, c, 0);
    if constexpr (R == 3) back_radix_2<V, R, AtZero>(v, c, 2);
    if constexpr (R == 4) back_radix_4<V, R, AtZero>(v, c, 2);
  }
}

template <class V, unsigned R, bool AtZero, class Tables>
CALPE_INLINE void forth_layers(typename V::Register (&v)[std::size_t{1} << R], const Tables& c) {
  if constexpr (R == 1) {
    forth_radix_2<V, R, AtZero>(v, c, 0);
  } else {
    if constexpr (R == 3) forth_radix_2<V, R, AtZero>(v, c, 2);
    if constexpr (R == 4) forth_radix_4<V, R, AtZero>(v, c, 2);
    forth_radix_4<V, R, AtZero>(v, c, 0);
  }
}

// Blocks anywhere, one pointer each. Byte may be const.
template <class V, unsigned R, class Byte>
struct Scattered {
  Byte* const* blocks;
  std::size_t at = 0;

  CALPE_INLINE explicit Scattered(Byte* const* of) : blocks(of) {}
  CALPE_INLINE Byte* operator[](std::size_t j) const { return blocks[j] + at; }
  CALPE_INLINE void advance() {
    at += V::bytes;
    asm("" : "+r"(blocks));  // as for the tables: one register, not one per block
  }
};

// Blocks at equal distances, as cells are: without loads of pointers.
template <class V, unsigned R, class Byte>
struct Spaced {
  static constexpr std::size_t anchors = R < 2 ? 1 : std::size_t{1} << (R - 2);
  Byte* first[anchors];  // of every fourth block
  std::ptrdiff_t step;
  std::ptrdiff_t three_steps;

  CALPE_INLINE explicit Spaced(Byte* const* of)
      : step(of[1] - of[0]), three_steps(3 * (of[1] - of[0])) {
    CALPE_UNROLL
    for (std::size_t i = 0; i < anchors; ++i)
      first[i] = of[4 * i];
  }
  CALPE_INLINE Byte* operator[](std::size_t j) const {
    Byte* const anchor = first[j / 4];
    return j % 4 == 0 ? anchor : anchor + (j % 4 == 3 ? three_steps : j % 4 == 2 ? 2 * step : step);
  }
  CALPE_INLINE void advance() {
    CALPE_UNROLL
    for (std::size_t i = 0; i < anchors; ++i)
      first[i] += V::bytes;
  }
};

// What a pass does with a column, in this order.
struct PassSteps {
  bool from_cells = true;     // sources are spaced equally
  bool goes_through = false;  // transform back at base 0, then forward at another
  bool goes_forth = false;    // transform forward
  bool adds_input = false;    // add `addends`
  bool is_scaled = false;     // multiply by the scales
  bool goes_back = false;     // transform back
  bool is_at_zero = false;    // see AtZero
  bool to_cells = true;       // targets are spaced equally
  Write write = Write::over;
};

template <bool IsSpaced, class V, unsigned R, class Byte>
struct BlocksOf {
  using Type = Scattered<V, R, Byte>;
};
template <class V, unsigned R, class Byte>
struct BlocksOf<true, V, R, Byte> {
  using Type = Spaced<V, R, Byte>;
};

template <class V, Write How>
CALPE_INLINE void put(std::byte* to, typename V::Register value) {
  if constexpr (How == Write::add) value = V::add(value, V::load(to));
  if constexpr (How == Write::stream) {
    V::stream(to, value);
  } else {
    V::store(to, value);
  }
}

template <class V, unsigned R, PassSteps Steps>
void butterfly_pass(const ButterflyPass& pass) {
  using Register = typename V::Register;
  using From = typename BlocksOf<Steps.from_cells, V, R, const std::byte>::Type;
  using To = typename BlocksOf<Steps.to_cells, V, R, std::byte>::Type;
  constexpr std::size_t size = std::size_t{1} << R;
  // The coefficients of up to three layers stay in registers, where there are enough.
  constexpr bool keeps_tables = V::registers >= 32 && R <= 3;
  for (std::size_t group = 0; group < pass.groups; ++group) {
    From from(pass.sources + group * size);
    To to(pass.targets + group * size);
    Scattered<V, R, const std::byte> added(pass.addends + group * size);
    GroupTables<V, R> c(pass.tables + group * pass.table_step);
    for (std::size_t left = pass.bytes; left > 0; left -= V::bytes) {
      if constexpr (!keeps_tables) c.hide();
      const GroupTables<V, R> last(c.tables +
                                   (Steps.goes_through ? (size - 1) * table_bytes<V> : 0));
      Register v[size];
      CALPE_UNROLL
      for (std::size_t j = 0; j < size; ++j)
        v[j] = V::load(from[j]);
      if constexpr (Steps.goes_through) {
        back_layers<V, R, true>(v, c);
        forth_layers<V, R, false>(v, last);
      }
      if constexpr (Steps.goes_forth) forth_layers<V, R, Steps.is_at_zero>(v, c);
      if constexpr (Steps.adds_input) {
        CALPE_UNROLL
        for (std::size_t j = 0; j < size; ++j)
          v[j] = V::add(v[j], V::load(added[j]));
        added.advance();
      }
      if constexpr (Steps.is_scaled) {
        CALPE_UNROLL
        for (std::size_t j = 0; j < size; ++j)
          v[j] = V::times(last.scale(j), v[j]);
      }
      if constexpr (Steps.goes_back) back_layers<V, R, Steps.is_at_zero>(v, c);
      CALPE_UNROLL
      for (std::size_t j = 0; j < size; ++j)
        put<V, Steps.write>(to[j], v[j]);
      from.advance();
      to.advance();
    }
  }
}

// Through 2^(R+1) blocks: back at base 0, forth at another. One half at a time is in registers.
template <class V, unsigned R, bool IsScaled, Write How>
void through_halves(const ButterflyPass& pass) {
  using Register = typename V::Register;
  constexpr std::size_t half = std::size_t{1} << R;
  Scattered<V, R, const std::byte> from(pass.sources);
  Scattered<V, R, std::byte> to(pass.targets);
  GroupTables<V, R + 1> c(pass.tables);
  for (std::size_t left = pass.bytes; left > 0; left -= V::bytes) {
    c.hide();
    const GroupTables<V, R + 1> last(c.tables + (2 * half - 1) * table_bytes<V>);
    Register lower[half];
    Register upper[half];
    CALPE_UNROLL
    for (std::size_t j = 0; j < half; ++j)
      lower[j] = V::load(from[j]);
    back_layers<V, R, true>(lower, HalfTables<V, R>{c, 0});
    CALPE_UNROLL
    for (std::size_t j = 0; j < half; ++j)
      upper[j] = V::load(from[half + j]);
    back_layers<V, R, false>(upper, HalfTables<V, R>{c, half});
    CALPE_UNROLL
    for (std::size_t j = 0; j < half; ++j) {
      upper[j] = V::add(upper[j], lower[j]);
      lower[j] = V::add(lower[j], V::times(last.at(R, 0), upper[j]));
      upper[j] = V::add(upper[j], lower[j]);
    }
    forth_layers<V, R, false>(upper, HalfTables<V, R>{last, half});
    CALPE_UNROLL
    for (std::size_t j = 0; j < half; ++j) {
      if constexpr (IsScaled) upper[j] = V::times(last.scale(half + j), upper[j]);
      put<V, How>(to[half + j], upper[j]);
    }
    forth_layers<V, R, false>(lower, HalfTables<V, R>{last, 0});
    CALPE_UNROLL
    for (std::size_t j = 0; j < half; ++j) {
      if constexpr (IsScaled) lower[j] = V::times(last.scale(j), lower[j]);
      put<V, How>(to[j], lower[j]);
    }
    from.advance();
    to.advance();
  }
}

// Through N = 16 blocks and a tail of 2^T: back at base 0 and forth at base N, for a polynomial
// with N + 2^T coefficients. The layer above is 0 at base 0 and 1 at base N, so the last 2^T
// coefficients q count at base N like the first 2^T. Before the last T layers forth, every 2^T
// values are a sum with q. In the first 2^T it is known, from the tail back at base N; that gives
// q. The values of the tail itself are not written. Tables: back, forth, those of the tail.
//
// Example, N = 2, T = 0, inputs d0, d1, d2: back gives the coefficients d0 and d0 + d1, forth the
// values v2 and v3 of a polynomial with these; q = d2 + v2, and the value at 3 is v3 + q.
//
// Fewer registers than values are no loss: 20+10 takes 49 products instead of 200.
template <class V, unsigned T, Write How>
void through_tail(const ButterflyPass& pass) {
  static_assert(T == 2 || T == 3);
  constexpr unsigned layers = 4;
  using Register = typename V::Register;
  constexpr std::size_t size = std::size_t{1} << layers;
  constexpr std::size_t tail_size = std::size_t{1} << T;
  Scattered<V, layers, const std::byte> from(pass.sources);
  Scattered<V, layers, std::byte> to(pass.targets);
  GroupTables<V, layers> c(pass.tables);
  for (std::size_t left = pass.bytes; left > 0; left -= V::bytes) {
    c.hide();
    const GroupTables<V, layers> last(c.tables + (size - 1) * table_bytes<V>);
    const GroupTables<V, T> tail_tables(last.tables + (size - 1) * table_bytes<V>);
    Register v[size];
    CALPE_UNROLL
    for (std::size_t j = 0; j < size; ++j)
      v[j] = V::load(from[j]);
    back_layers<V, layers, true>(v, c);
    if constexpr (T == 2) {
      forth_radix_4<V, layers, false>(v, last, 2);
    } else {
      forth_radix_2<V, layers, false>(v, last, 3);
    }
    Register tail[tail_size];
    CALPE_UNROLL
    for (std::size_t j = 0; j < tail_size; ++j)
      tail[j] = V::load(from[size + j]);
    back_layers<V, T, false>(tail, tail_tables);
    CALPE_UNROLL
    for (std::size_t j = 0; j < tail_size; ++j) {
      tail[j] = V::add(tail[j], v[j]);
      CALPE_UNROLL
      for (std::size_t n = tail_size; n < size; n += tail_size)
        v[n + j] = V::add(v[n + j], tail[j]);
    }
    // The compiler leaves out the first values, which are not used.
    if constexpr (T == 3) forth_radix_2<V, layers, false>(v, last, 2);
    forth_radix_4<V, layers, false>(v, last, 0);
    CALPE_UNROLL
    for (std::size_t j = tail_size; j < size; ++j)
      put<V, How>(to[j], v[j]);
    from.advance();
    to.advance();
  }
}

template <class V, unsigned T>
constexpr OutputKernels tail_kernels() {
  OutputKernels kernels{};
  kernels.over = &through_tail<V, T, Write::over>;
  kernels.add = &through_tail<V, T, Write::add>;
  if constexpr (Streams<V>) kernels.stream = &through_tail<V, T, Write::stream>;
  return kernels;
}

template <class V, unsigned R>
constexpr OutputKernels halves_kernels() {
  OutputKernels kernels{};
  kernels.over = &through_halves<V, R, false, Write::over>;
  kernels.scaled = &through_halves<V, R, true, Write::over>;
  kernels.add = &through_halves<V, R, true, Write::add>;
  if constexpr (Streams<V>) kernels.stream = &through_halves<V, R, true, Write::stream>;
  return kernels;
}

template <class V, unsigned R>
constexpr ButterflyKernels butterfly_kernels() {
  constexpr PassSteps in_back{.from_cells = false, .goes_back = true};
  constexpr PassSteps in_back_at_zero{.from_cells = false, .goes_back = true, .is_at_zero = true};
  constexpr PassSteps in_back_add{.from_cells = false, .goes_back = true, .write = Write::add};
  constexpr PassSteps in_back_scaled{.from_cells = false, .is_scaled = true, .goes_back = true};
  constexpr PassSteps back{.goes_back = true};
  constexpr PassSteps back_at_zero{.goes_back = true, .is_at_zero = true};
  constexpr PassSteps back_add{.goes_back = true, .write = Write::add};
  constexpr PassSteps turn{
      .goes_forth = true, .adds_input = true, .is_scaled = true, .goes_back = true};
  constexpr PassSteps forth{.goes_forth = true};
  constexpr PassSteps forth_at_zero{.goes_forth = true, .is_at_zero = true};
  constexpr PassSteps forth_out{.goes_forth = true, .to_cells = false};
  constexpr PassSteps forth_out_scaled{.goes_forth = true, .is_scaled = true, .to_cells = false};
  constexpr PassSteps forth_out_add{
      .goes_forth = true, .is_scaled = true, .to_cells = false, .write = Write::add};
  constexpr PassSteps through{.from_cells = false, .goes_through = true, .to_cells = false};
  constexpr PassSteps through_scaled{
      .from_cells = false, .goes_through = true, .is_scaled = true, .to_cells = false};
  constexpr PassSteps through_add{.from_cells = false,
                                  .goes_through = true,
                                  .is_scaled = true,
                                  .to_cells = false,
                                  .write = Write::add};
  ButterflyKernels kernels{};
  kernels.through.over = &butterfly_pass<V, R, through>;
  kernels.through.scaled = &butterfly_pass<V, R, through_scaled>;
  kernels.through.add = &butterfly_pass<V, R, through_add>;
  kernels.forth_out.over = &butterfly_pass<V, R, forth_out>;
  kernels.forth_out.scaled = &butterfly_pass<V, R, forth_out_scaled>;
  kernels.forth_out.add = &butterfly_pass<V, R, forth_out_add>;
  kernels.in_back = &butterfly_pass<V, R, in_back>;
  kernels.in_back_at_zero = &butterfly_pass<V, R, in_back_at_zero>;
  kernels.in_back_add = &butterfly_pass<V, R, in_back_add>;
  kernels.in_back_scaled = &butterfly_pass<V, R, in_back_scaled>;
  kernels.back = &butterfly_pass<V, R, back>;
  kernels.back_at_zero = &butterfly_pass<V, R, back_at_zero>;
  kernels.back_add = &butterfly_pass<V, R, back_add>;
  kernels.turn = &butterfly_pass<V, R, turn>;
  kernels.forth = &butterfly_pass<V, R, forth>;
  kernels.forth_at_zero = &butterfly_pass<V, R, forth_at_zero>;
  if constexpr (Streams<V>) {
    constexpr PassSteps forth_out_stream{
        .goes_forth = true, .is_scaled = true, .to_cells = false, .write = Write::stream};
    constexpr PassSteps through_stream{.from_cells = false,
                                       .goes_through = true,
                                       .is_scaled = true,
                                       .to_cells = false,
                                       .write = Write::stream};
    kernels.forth_out.stream = &butterfly_pass<V, R, forth_out_stream>;
    kernels.through.stream = &butterfly_pass<V, R, through_stream>;
  }
  return kernels;
}

template <class V>
constexpr void fill_butterflies(CpuKernels& kernels) {
  static_assert(V::log_in_registers >= 3 && V::log_in_registers <= butterfly_log_max);
  kernels.butterfly_log = V::log_in_registers;
  kernels.butterflies[1] = butterfly_kernels<V, 1>();
  kernels.butterflies[2] = butterfly_kernels<V, 2>();
  kernels.butterflies[3] = butterfly_kernels<V, 3>();
  if constexpr (V::log_in_registers >= 4) kernels.butterflies[4] = butterfly_kernels<V, 4>();
  kernels.through_tail[2] = tail_kernels<V, 2>();
  kernels.through_tail[3] = tail_kernels<V, 3>();
  kernels.through_halves = halves_kernels<V, V::log_in_registers>();
}

}  // namespace calpe::backend::cpu
