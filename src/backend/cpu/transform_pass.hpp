// SPDX-License-Identifier: Apache-2.0
// The additive FFT on vectors: chunks of N = 2^H inputs are transformed back, summed, and the sum
// is transformed forth into the outputs (ir/transform.hpp has the formulas). Written once over the
// Vector classes of matrix_pass.hpp, which for this offer
//   times(table, x)   c * x
//   log_in_registers  butterflies of 2^log values run in registers, larger ones over the stack
//
// A butterfly of layer i couples values 2^i apart:   back:  y += x, x += c * y
//                                                    forth: x += c * y, y += x
// One product serves two values, where a row of a matrix needs one per value: that is the gain.
#pragma once
#include <cstddef>

#include "backend/cpu/matrix_pass.hpp"

namespace calpe::backend::cpu {

// The compiler would rather keep every coefficient of the loop in a register of its own, and spill
// them all; read through a pointer it knows nothing about, they are operands in memory.
#define CALPE_FORGET(pointer) asm("" : "+r"(pointer))

template <class V>
CALPE_INLINE const std::byte* point(const std::byte* points, std::size_t index) {
  return points + index * table_bytes<V>;
}

// Layers i and i+1 of four values 2^i apart, the first at `index`. Live: how many of the four are
// not zero, at least 1; the others need not be set.
template <class V, std::size_t Live>
CALPE_INLINE void back_two_layers(typename V::Register (&v)[4], const std::byte* points,
                                  std::size_t index, std::size_t layer) {
  const std::byte* const low = point<V>(points, index >> layer);
  const std::byte* const high = point<V>(points, (index >> layer) + 2);
  const std::byte* const both = point<V>(points, index >> (layer + 1));
  v[1] = Live > 1 ? V::add(v[0], v[1]) : v[0];
  v[0] = V::add(v[0], V::times(low, v[1]));
  if constexpr (Live > 2) {
    v[3] = Live > 3 ? V::add(v[2], v[3]) : v[2];
    v[2] = V::add(v[0], v[2], V::times(high, v[3]));
    v[3] = V::add(v[1], v[3]);
  } else {
    v[2] = v[0];
    v[3] = v[1];
  }
  v[0] = V::add(v[0], V::times(both, v[2]));
  v[1] = V::add(v[1], V::times(both, v[3]));
}

// The same, added to `sums`: two additions less than doing it afterwards.
template <class V, std::size_t Live>
CALPE_INLINE void back_two_layers_add(typename V::Register (&sums)[4], typename V::Register (&v)[4],
                                      const std::byte* points, std::size_t index,
                                      std::size_t layer) {
  const std::byte* const low = point<V>(points, index >> layer);
  const std::byte* const high = point<V>(points, (index >> layer) + 2);
  const std::byte* const both = point<V>(points, index >> (layer + 1));
  v[1] = Live > 1 ? V::add(v[0], v[1]) : v[0];
  v[0] = V::add(v[0], V::times(low, v[1]));
  if constexpr (Live > 2) {
    v[3] = Live > 3 ? V::add(v[2], v[3]) : v[2];
    v[2] = V::add(v[0], v[2], V::times(high, v[3]));
    v[3] = V::add(v[1], v[3]);
  } else {
    v[2] = v[0];
    v[3] = v[1];
  }
  sums[2] = V::add(sums[2], v[2]);
  sums[3] = V::add(sums[3], v[3]);
  sums[0] = V::add(sums[0], v[0], V::times(both, v[2]));
  sums[1] = V::add(sums[1], v[1], V::times(both, v[3]));
}

enum class Sum { none, add };

// Back transform of 2^H values in registers, H = 0..4, of which the first Live (a multiple of 4
// when H >= 2) may be other than zero. Sum::add: added to `sums`, otherwise written to it.
template <class V, unsigned H, std::size_t Live, Sum Into>
CALPE_INLINE void transform_back(typename V::Register (&sums)[std::size_t{1} << H],
                                 typename V::Register (&v)[std::size_t{1} << H],
                                 const std::byte* points, std::size_t base) {
  using Register = typename V::Register;
  constexpr std::size_t size = std::size_t{1} << H;
  if constexpr (H == 0) {
    sums[0] = Into == Sum::add ? V::add(sums[0], v[0]) : v[0];
  } else if constexpr (H == 1) {
    const Register y = V::add(v[0], v[1]);
    const Register product = V::times(point<V>(points, base), y);
    sums[1] = Into == Sum::add ? V::add(sums[1], y) : y;
    sums[0] = Into == Sum::add ? V::add(sums[0], v[0], product) : V::add(v[0], product);
  } else {
    CALPE_UNROLL
    for (std::size_t b = 0; b < (H == 2 ? std::size_t{0} : Live); b += 4) {
      Register four[4] = {v[b], v[b + 1], v[b + 2], v[b + 3]};
      back_two_layers<V, 4>(four, points, base + b, 0);
      CALPE_UNROLL
      for (std::size_t j = 0; j < 4; ++j)
        v[b + j] = four[j];
    }
    if constexpr (H == 3) {
      CALPE_UNROLL
      for (std::size_t j = 0; j < 4; ++j) {
        const Register y = Live > 4 ? V::add(v[j], v[j + 4]) : v[j];
        const Register product = V::times(point<V>(points, base >> 2), y);
        sums[j + 4] = Into == Sum::add ? V::add(sums[j + 4], y) : y;
        sums[j] = Into == Sum::add ? V::add(sums[j], v[j], product) : V::add(v[j], product);
      }
    } else {
      constexpr unsigned layer = H - 2;
      constexpr std::size_t step = size / 4;
      CALPE_UNROLL
      for (std::size_t j = 0; j < step; ++j) {
        Register four[4] = {v[j], v[j + step], v[j + 2 * step], v[j + 3 * step]};
        constexpr std::size_t live = H == 2 ? 4 : Live / 4;
        if constexpr (Into == Sum::add) {
          Register of[4] = {sums[j], sums[j + step], sums[j + 2 * step], sums[j + 3 * step]};
          back_two_layers_add<V, live>(of, four, points, base, layer);
          CALPE_UNROLL
          for (std::size_t n = 0; n < 4; ++n)
            sums[j + n * step] = of[n];
        } else {
          back_two_layers<V, live>(four, points, base, layer);
          CALPE_UNROLL
          for (std::size_t n = 0; n < 4; ++n)
            sums[j + n * step] = four[n];
        }
      }
    }
  }
}

// Forward transform of 2^H values in registers, the first of them at index `base`. Base 0 has a
// zero for the coefficient of every first block: AtZero leaves these products out.
template <class V, unsigned H, bool AtZero>
CALPE_INLINE void transform_forth(typename V::Register (&v)[std::size_t{1} << H],
                                  const std::byte* points, std::size_t base) {
  CALPE_UNROLL
  for (unsigned down = 1; down <= H; ++down) {
    const unsigned layer = H - down;
    const std::size_t half = std::size_t{1} << layer;
    CALPE_UNROLL
    for (std::size_t b = 0; b < (std::size_t{1} << H); b += 2 * half) {
      CALPE_UNROLL
      for (std::size_t j = b; j < b + half; ++j) {
        if (!AtZero || b != 0) {
          v[j] = V::add(v[j], V::times(point<V>(points, (base + b) >> layer), v[j + half]));
        }
        v[j + half] = V::add(v[j + half], v[j]);
      }
    }
  }
}

// Everything in registers, position by position: few inputs, N at most 16.
// Wanted: `wanted` rounded up to an even number.
template <class V, unsigned H, std::size_t Tail, std::size_t Wanted, class Access>
void transform_narrow(const TransformBlock& block, Access access) {
  using Register = typename V::Register;
  constexpr std::size_t size = std::size_t{1} << H;
  const bool has_last = block.wanted == Wanted;
  for (std::size_t at = 0; at < block.bytes; at += V::bytes) {
    const std::byte* points = block.points;
    CALPE_FORGET(points);
    Register sums[size];
    Register v[size];
    const std::byte* const* inputs = block.inputs;
    std::size_t base = size;
    CALPE_UNROLL
    for (std::size_t j = 0; j < size; ++j)
      v[j] = V::load(inputs[j] + at);
    transform_back<V, H, size, Sum::none>(sums, v, points, base);
    for (std::size_t chunk = 1; chunk < block.chunks; ++chunk) {
      inputs += size;
      base += size;
      CALPE_UNROLL
      for (std::size_t j = 0; j < size; ++j)
        v[j] = V::load(inputs[j] + at);
      transform_back<V, H, size, Sum::add>(sums, v, points, base);
    }
    if constexpr (Tail > 0) {
      inputs += size;
      base += size;
      CALPE_UNROLL
      for (std::size_t j = 0; j < Tail; ++j)
        v[j] = V::load(inputs[j] + at);
      transform_back<V, H, Tail, Sum::add>(sums, v, points, base);
    }
    transform_forth<V, H, true>(sums, points, 0);
    CALPE_UNROLL
    for (std::size_t j = 0; j + 1 < Wanted; ++j)
      access.store(block.outputs[j] + at, sums[j]);
    if (has_last) access.store(block.outputs[Wanted - 1] + at, sums[Wanted - 1]);
  }
}

// One chunk, added to the sums of the block (or First: written). Values beyond the registers go
// over the stack, a column of vectors at a time.
template <class V, unsigned H, bool First>
void transform_chunk(const TransformBlock& block, const std::byte* const* inputs, std::size_t live,
                     std::size_t base) {
  using Register = typename V::Register;
  constexpr unsigned inner = H < V::log_in_registers ? H : V::log_in_registers;
  constexpr std::size_t inner_size = std::size_t{1} << inner;
  constexpr std::size_t size = std::size_t{1} << H;
  constexpr Sum into = First ? Sum::none : Sum::add;
  for (std::size_t at = 0; at < block.bytes; at += V::bytes) {
    const std::byte* points = block.points;
    CALPE_FORGET(points);
    std::byte* const sums = block.sums + at;
    const auto sum = [&](std::size_t j) { return sums + j * block.bytes; };
    if constexpr (H == inner) {
      Register v[size];
      Register totals[size];
      CALPE_UNROLL
      for (std::size_t j = 0; j < size; ++j) {
        v[j] = V::load(inputs[j] + at);
        if constexpr (!First) totals[j] = V::load(sum(j));
      }
      transform_back<V, H, size, into>(totals, v, points, base);
      CALPE_UNROLL
      for (std::size_t j = 0; j < size; ++j)
        V::store(sum(j), totals[j]);
    } else {
      Register column[size];
      for (std::size_t b = 0; b < live; b += inner_size) {
        Register v[inner_size];
        Register back[inner_size];
        CALPE_UNROLL
        for (std::size_t j = 0; j < inner_size; ++j)
          v[j] = V::load(inputs[b + j] + at);
        transform_back<V, inner, inner_size, Sum::none>(back, v, points, base + b);
        CALPE_UNROLL
        for (std::size_t j = 0; j < inner_size; ++j)
          column[b + j] = back[j];
      }
      for (std::size_t j = live; j < size; ++j)
        column[j] = V::zero();
      for (unsigned layer = inner; layer + 1 < H; ++layer) {
        const std::size_t half = std::size_t{1} << layer;
        for (std::size_t b = 0; b < live; b += 2 * half) {
          const std::byte* const table = point<V>(points, (base + b) >> layer);
          for (std::size_t j = b; j < b + half; ++j) {
            const Register y = V::add(column[j], column[j + half]);
            column[j] = V::add(column[j], V::times(table, y));
            column[j + half] = y;
          }
        }
      }
      constexpr std::size_t half = size / 2;
      const std::byte* const table = point<V>(points, base >> (H - 1));
      CALPE_UNROLL
      for (std::size_t j = 0; j < half; ++j) {
        const Register x = column[j];
        const Register y = V::add(x, column[j + half]);
        const Register product = V::times(table, y);
        V::store(sum(j), First ? V::add(x, product) : V::add(V::load(sum(j)), x, product));
        V::store(sum(j + half), First ? y : V::add(V::load(sum(j + half)), y));
      }
    }
  }
}

// The forward transform of the sums into the outputs.
template <class V, unsigned H, class Access>
void transform_finish(const TransformBlock& block, Access access) {
  using Register = typename V::Register;
  constexpr unsigned inner = H < V::log_in_registers ? H : V::log_in_registers;
  constexpr std::size_t inner_size = std::size_t{1} << inner;
  constexpr std::size_t size = std::size_t{1} << H;
  for (std::size_t at = 0; at < block.bytes; at += V::bytes) {
    const std::byte* points = block.points;
    CALPE_FORGET(points);
    Register column[size];
    const auto inner_part = [&]<bool AtZero>(std::size_t b) {
      Register v[inner_size];
      CALPE_UNROLL
      for (std::size_t j = 0; j < inner_size; ++j) {
        v[j] = H == inner ? V::load(block.sums + (b + j) * block.bytes + at) : column[b + j];
      }
      transform_forth<V, inner, AtZero>(v, points, b);
      CALPE_UNROLL
      for (std::size_t j = 0; j < inner_size; ++j) {
        if (b + j < block.wanted) access.store(block.outputs[b + j] + at, v[j]);
      }
    };
    if constexpr (H > inner) {
      constexpr std::size_t half_size = size / 2;
      CALPE_UNROLL
      for (std::size_t j = 0; j < half_size; ++j) {  // the coefficient is 0
        column[j] = V::load(block.sums + j * block.bytes + at);
        column[j + half_size] =
            V::add(column[j], V::load(block.sums + (j + half_size) * block.bytes + at));
      }
      for (unsigned layer = H - 1; layer-- > inner;) {
        const std::size_t half = std::size_t{1} << layer;
        for (std::size_t b = 0; b < block.wanted; b += 2 * half) {
          const std::byte* const table = point<V>(points, b >> layer);
          for (std::size_t j = b; j < b + half; ++j) {
            if (b != 0) column[j] = V::add(column[j], V::times(table, column[j + half]));
            column[j + half] = V::add(column[j + half], column[j]);
          }
        }
      }
    }
    inner_part.template operator()<true>(0);
    for (std::size_t b = inner_size; b < block.wanted; b += inner_size)
      inner_part.template operator()<false>(b);
  }
}

// Chunk by chunk over a block of columns whose sums stay in L1: any number of inputs, of which the
// prefetcher only has to follow those of a chunk.
template <class V, unsigned H, class Access>
void transform_wide(const TransformBlock& block) {
  constexpr std::size_t size = std::size_t{1} << H;
  transform_chunk<V, H, true>(block, block.inputs, size, size);
  std::size_t chunk = 1;
  for (; chunk < block.chunks; ++chunk) {
    transform_chunk<V, H, false>(block, block.inputs + chunk * size, size, (chunk + 1) * size);
  }
  if (block.tail > 0) {
    transform_chunk<V, H, false>(block, block.inputs + chunk * size, block.tail,
                                 (chunk + 1) * size);
  }
  transform_finish<V, H>(block, Access{});
}

template <class V, unsigned H, class Access, std::size_t Wanted>
void narrow_by_tail(const TransformBlock& block) {
  constexpr std::size_t size = std::size_t{1} << H;
  if (block.tail == 0) {
    transform_narrow<V, H, 0, Wanted>(block, Access{});
  } else if (block.tail == size / 2) {
    transform_narrow<V, H, size / 2, Wanted>(block, Access{});
  } else if constexpr (H == 4) {
    transform_narrow<V, H, size / 4, Wanted>(block, Access{});
  }
}

template <class V, unsigned H, class Access, std::size_t Wanted = (std::size_t{1} << H) / 2 + 2>
void narrow_by_wanted(const TransformBlock& block) {
  if constexpr (Wanted < (std::size_t{1} << H)) {
    if (block.wanted > Wanted) return narrow_by_wanted<V, H, Access, Wanted + 2>(block);
  }
  narrow_by_tail<V, H, Access, Wanted>(block);
}

template <class V, unsigned H>
constexpr TransformKernels transform_kernels() {
  TransformKernels kernels{};
  kernels.wide = &transform_wide<V, H, WholeAccess<V>>;
  kernels.wide_tail = std::size_t{1} << (H < V::log_in_registers ? H : V::log_in_registers);
  if constexpr (Streams<V>) kernels.wide_stream = &transform_wide<V, H, StreamAccess<V>>;
  if constexpr (V::registers >= 32 && H <= V::log_in_registers && H <= 4) {
    kernels.narrow = &narrow_by_wanted<V, H, WholeAccess<V>>;
    if constexpr (Streams<V>) kernels.narrow_stream = &narrow_by_wanted<V, H, StreamAccess<V>>;
  }
  return kernels;
}

template <class V>
constexpr void fill_transforms(CpuKernels& kernels) {
  static_assert(transform_log_min == 3 && transform_log_max == 7);
  kernels.transforms[3] = transform_kernels<V, 3>();
  kernels.transforms[4] = transform_kernels<V, 4>();
  kernels.transforms[5] = transform_kernels<V, 5>();
  kernels.transforms[6] = transform_kernels<V, 6>();
  kernels.transforms[7] = transform_kernels<V, 7>();
}

// Multiply runs the matrix passes, Xor the XOR passes: the same class but for the scalar path.
template <class Multiply, class Xor = Multiply>
constexpr CpuKernels make_kernels(const char* name, const char* description) {
  CpuKernels kernels = make_matrix_kernels<Multiply, Xor>(name, description);
  kernels.transform_bytes = Multiply::bytes;
  fill_transforms<Multiply>(kernels);
  return kernels;
}

}  // namespace calpe::backend::cpu
