// SPDX-License-Identifier: Apache-2.0
// The additive FFT on vectors: chunks of N = 2^H inputs are transformed back and summed, and the
// sum is transformed forward into the outputs (formulas in ir/transform.hpp). Templates over the
// Vector classes of matrix_pass.hpp, which also offer
//   times(table, x)   c * x
//   log_in_registers  butterflies of 2^log values run in registers, larger ones over the stack
//
// A butterfly of layer i couples values 2^i apart:
//   back:    y += x, x += c * y
//   forward: x += c * y, y += x
// The gain: one product serves two values, where a matrix row needs one product per value.
#pragma once
#include <cstddef>

#include "backend/cpu/butterfly_pass.hpp"
#include "backend/cpu/matrix_pass.hpp"
#include "backend/cpu/tag_pass.hpp"
#include "backend/cpu/wide_matrix_pass.hpp"

namespace calpe::backend::cpu {

// The coefficients of the chunk at `base`, a multiple of 2^H: one pointer per layer, with all
// butterflies at constant offsets. Computed for every column and hidden from the optimiser (the
// asm), which would otherwise keep every coefficient of the loop in a register and spill them.
template <class V, unsigned H>
struct Coefficients {
  const std::byte* layers[H];

  CALPE_INLINE Coefficients(const std::byte* points, std::size_t base) {
    CALPE_UNROLL
    for (unsigned layer = 0; layer < H; ++layer) {
      layers[layer] = points + (base >> layer) * table_bytes<V>;
      asm("" : "+r"(layers[layer]));
    }
  }
  // Coefficient of the butterflies of `layer` that begin at `index` in the chunk.
  CALPE_INLINE const std::byte* at(unsigned layer, std::size_t index) const {
    return layers[layer] + (index >> layer) * table_bytes<V>;
  }
};

// Layers `layer` and the next of four values 2^layer apart, the first at `index`, without the last
// two products: those of v[2] and v[3], which are complete, with the returned coefficient. Live:
// how many of the four may be non-zero, at least 1; the others need not be set.
template <class V, std::size_t Live, unsigned H>
CALPE_INLINE const std::byte* back_upper_half(typename V::Register (&v)[4],
                                              const Coefficients<V, H>& c, unsigned layer,
                                              std::size_t index) {
  const std::byte* const low = c.at(layer, index);
  const std::byte* const high = low + 2 * table_bytes<V>;
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
  return c.at(layer + 1, index);
}

template <class V, std::size_t Live, unsigned H>
CALPE_INLINE void back_two_layers(typename V::Register (&v)[4], const Coefficients<V, H>& c,
                                  unsigned layer, std::size_t index) {
  const std::byte* const both = back_upper_half<V, Live>(v, c, layer, index);
  v[0] = V::add(v[0], V::times(both, v[2]));
  v[1] = V::add(v[1], V::times(both, v[3]));
}

// The same, added to `sums`: saves two additions.
template <class V, std::size_t Live, unsigned H>
CALPE_INLINE void back_two_layers_add(typename V::Register (&sums)[4], typename V::Register (&v)[4],
                                      const Coefficients<V, H>& c, unsigned layer,
                                      std::size_t index) {
  const std::byte* const both = back_upper_half<V, Live>(v, c, layer, index);
  sums[2] = V::add(sums[2], v[2]);
  sums[3] = V::add(sums[3], v[3]);
  sums[0] = V::add(sums[0], v[0], V::times(both, v[2]));
  sums[1] = V::add(sums[1], v[1], V::times(both, v[3]));
}

enum class Sum { none, add };

// Back transform in registers of 2^H values, H = 3 or 4, that begin at `first` in the chunk of
// coefficients c. Only the first Live of them, a multiple of 4, may be non-zero. Sum::add adds to
// `sums`; otherwise overwrites.
template <class V, unsigned H, std::size_t Live, Sum Into, unsigned HChunk>
CALPE_INLINE void transform_back(typename V::Register (&sums)[std::size_t{1} << H],
                                 typename V::Register (&v)[std::size_t{1} << H],
                                 const Coefficients<V, HChunk>& c, std::size_t first) {
  static_assert(H == 3 || H == 4);
  using Register = typename V::Register;
  CALPE_UNROLL
  for (std::size_t b = 0; b < Live; b += 4) {
    Register four[4] = {v[b], v[b + 1], v[b + 2], v[b + 3]};
    back_two_layers<V, 4>(four, c, 0, first + b);
    CALPE_UNROLL
    for (std::size_t j = 0; j < 4; ++j)
      v[b + j] = four[j];
  }
  CALPE_UNROLL
  for (std::size_t j = 0; j < 4; ++j) {
    if constexpr (H == 3) {
      const Register y = Live > 4 ? V::add(v[j], v[j + 4]) : v[j];
      const Register product = V::times(c.at(2, first), y);
      sums[j + 4] = Into == Sum::add ? V::add(sums[j + 4], y) : y;
      sums[j] = Into == Sum::add ? V::add(sums[j], v[j], product) : V::add(v[j], product);
    } else {
      Register four[4] = {v[j], v[j + 4], v[j + 8], v[j + 12]};
      if constexpr (Into == Sum::add) {
        Register of[4] = {sums[j], sums[j + 4], sums[j + 8], sums[j + 12]};
        back_two_layers_add<V, Live / 4>(of, four, c, 2, first);
        CALPE_UNROLL
        for (std::size_t n = 0; n < 4; ++n)
          sums[j + 4 * n] = of[n];
      } else {
        back_two_layers<V, Live / 4>(four, c, 2, first);
        CALPE_UNROLL
        for (std::size_t n = 0; n < 4; ++n)
          sums[j + 4 * n] = four[n];
      }
    }
  }
}

// Forward transform in registers of 2^H values that begin at `first`. The coefficients of every
// first block at 0 are zero; AtZero skips these products.
template <class V, unsigned H, bool AtZero, unsigned HChunk>
CALPE_INLINE void transform_forth(typename V::Register (&v)[std::size_t{1} << H],
                                  const Coefficients<V, HChunk>& c, std::size_t first) {
  CALPE_UNROLL
  for (unsigned down = 1; down <= H; ++down) {
    const unsigned layer = H - down;
    const std::size_t half = std::size_t{1} << layer;
    CALPE_UNROLL
    for (std::size_t b = 0; b < (std::size_t{1} << H); b += 2 * half) {
      CALPE_UNROLL
      for (std::size_t j = b; j < b + half; ++j) {
        if (!AtZero || b != 0) {
          v[j] = V::add(v[j], V::times(c.at(layer, first + b), v[j + half]));
        }
        v[j + half] = V::add(v[j + half], v[j]);
      }
    }
  }
}

// Everything in registers, one position at a time: few inputs, N at most 16.
// Wanted: `wanted` rounded up to an even number.
template <class V, unsigned H, std::size_t Tail, std::size_t Wanted, class Access>
void transform_narrow(const TransformBlock& block, Access access) {
  using Register = typename V::Register;
  constexpr std::size_t size = std::size_t{1} << H;
  const bool has_last = block.wanted == Wanted;
  for (std::size_t done = 0; done < block.bytes; done += V::bytes) {
    const std::size_t at = block.begin + done;
    const std::size_t to = block.output_begin + done;
    Register sums[size];
    Register v[size];
    const std::byte* const* inputs = block.inputs;
    std::size_t base = size;
    CALPE_UNROLL
    for (std::size_t j = 0; j < size; ++j)
      v[j] = V::load(inputs[j] + at);
    transform_back<V, H, size, Sum::none>(sums, v, Coefficients<V, H>(block.points, base), 0);
    for (std::size_t chunk = 1; chunk < block.chunks; ++chunk) {
      inputs += size;
      base += size;
      CALPE_UNROLL
      for (std::size_t j = 0; j < size; ++j)
        v[j] = V::load(inputs[j] + at);
      transform_back<V, H, size, Sum::add>(sums, v, Coefficients<V, H>(block.points, base), 0);
    }
    if constexpr (Tail > 0) {
      inputs += size;
      base += size;
      CALPE_UNROLL
      for (std::size_t j = 0; j < Tail; ++j)
        v[j] = V::load(inputs[j] + at);
      transform_back<V, H, Tail, Sum::add>(sums, v, Coefficients<V, H>(block.points, base), 0);
    }
    transform_forth<V, H, true>(sums, Coefficients<V, H>(block.points, 0), 0);
    CALPE_UNROLL
    for (std::size_t j = 0; j + 1 < Wanted; ++j)
      access.store(block.outputs[j] + to, sums[j]);
    if (has_last) access.store(block.outputs[Wanted - 1] + to, sums[Wanted - 1]);
  }
}

// Layers 0 .. H-1 of the 2^H inputs at `first` of a chunk, in registers.
template <class V, unsigned H, unsigned HChunk>
CALPE_INLINE void load_and_transform_back(typename V::Register (&to)[std::size_t{1} << H],
                                          const std::byte* const* inputs, std::size_t at,
                                          const Coefficients<V, HChunk>& c, std::size_t first) {
  typename V::Register v[std::size_t{1} << H];
  CALPE_UNROLL
  for (std::size_t j = 0; j < (std::size_t{1} << H); ++j) {
    v[j] = V::load(inputs[first + j] + at);
  }
  transform_back<V, H, (std::size_t{1} << H), Sum::none>(to, v, c, first);
}

// The last layer of two values, added to the sums at `low` and `high`; First: overwrites.
template <class V, bool First>
CALPE_INLINE void last_layer(typename V::Register x, typename V::Register other,
                             const std::byte* table, std::byte* low, std::byte* high) {
  const typename V::Register y = V::add(x, other);
  const typename V::Register product = V::times(table, y);
  V::store(low, First ? V::add(x, product) : V::add(V::load(low), x, product));
  V::store(high, First ? y : V::add(V::load(high), y));
}

// One column of a chunk, added to its sums (First: overwrites), which are `stride` apart. Live:
// inputs that may be non-zero. For transforms that fit into registers:
template <class V, unsigned H, bool First>
CALPE_INLINE void chunk_in_registers(const std::byte* const* inputs, std::size_t at,
                                     const Coefficients<V, H>& c, std::byte* sums,
                                     std::size_t stride) {
  constexpr std::size_t size = std::size_t{1} << H;
  typename V::Register v[size];
  typename V::Register totals[size];
  CALPE_UNROLL
  for (std::size_t j = 0; j < size; ++j) {
    v[j] = V::load(inputs[j] + at);
    if constexpr (!First) totals[j] = V::load(sums + j * stride);
  }
  transform_back<V, H, size, First ? Sum::none : Sum::add>(totals, v, c, 0);
  CALPE_UNROLL
  for (std::size_t j = 0; j < size; ++j)
    V::store(sums + j * stride, totals[j]);
}

// For transforms of which half fits. Keeps the first half on the stack explicitly, because the
// compiler would choose worse spills.
template <class V, unsigned H, bool First>
CALPE_INLINE void chunk_in_halves(const std::byte* const* inputs, std::size_t at, std::size_t live,
                                  const Coefficients<V, H>& c, std::byte* sums,
                                  std::size_t stride) {
  constexpr std::size_t half_size = std::size_t{1} << (H - 1);
  alignas(V::bytes) std::byte waiting[half_size * V::bytes];
  typename V::Register half[half_size];
  load_and_transform_back<V, H - 1>(half, inputs, at, c, 0);
  CALPE_UNROLL
  for (std::size_t j = 0; j < half_size; ++j)
    V::store(waiting + j * V::bytes, half[j]);
  if (live > half_size) {
    load_and_transform_back<V, H - 1>(half, inputs, at, c, half_size);
  } else {
    CALPE_UNROLL
    for (std::size_t j = 0; j < half_size; ++j)
      half[j] = V::zero();
  }
  const std::byte* const table = c.at(H - 1, 0);
  CALPE_UNROLL
  for (std::size_t j = 0; j < half_size; ++j) {
    last_layer<V, First>(V::load(waiting + j * V::bytes), half[j], table, sums + j * stride,
                         sums + (j + half_size) * stride);
  }
}

// For larger transforms; values are on the stack.
template <class V, unsigned H, bool First>
CALPE_INLINE void chunk_on_stack(const std::byte* const* inputs, std::size_t at, std::size_t live,
                                 const Coefficients<V, H>& c, std::byte* sums, std::size_t stride) {
  using Register = typename V::Register;
  constexpr std::size_t size = std::size_t{1} << H;
  constexpr unsigned inner = V::log_in_registers;
  constexpr std::size_t inner_size = std::size_t{1} << inner;
  Register column[size];
  for (std::size_t b = 0; b < live; b += inner_size) {
    Register back[inner_size];
    load_and_transform_back<V, inner>(back, inputs, at, c, b);
    CALPE_UNROLL
    for (std::size_t j = 0; j < inner_size; ++j)
      column[b + j] = back[j];
  }
  for (std::size_t j = live; j < size; ++j)
    column[j] = V::zero();
  for (unsigned layer = inner; layer + 1 < H; ++layer) {
    const std::size_t half = std::size_t{1} << layer;
    for (std::size_t b = 0; b < live; b += 2 * half) {
      const std::byte* const table = c.at(layer, b);
      for (std::size_t j = b; j < b + half; ++j) {
        const Register y = V::add(column[j], column[j + half]);
        column[j] = V::add(column[j], V::times(table, y));
        column[j + half] = y;
      }
    }
  }
  const std::byte* const table = c.at(H - 1, 0);
  for (std::size_t j = 0; j < size / 2; ++j) {
    last_layer<V, First>(column[j], column[j + size / 2], table, sums + j * stride,
                         sums + (j + size / 2) * stride);
  }
}

template <class V, unsigned H, bool First>
void transform_chunk(const TransformBlock& block, const std::byte* const* inputs, std::size_t live,
                     std::size_t base) {
  for (std::size_t done = 0; done < block.bytes; done += V::bytes) {
    const Coefficients<V, H> c(block.points, base);
    std::byte* const sums = block.sums + done;
    const std::size_t at = block.begin + done;
    if constexpr (H <= V::log_in_registers) {
      chunk_in_registers<V, H, First>(inputs, at, c, sums, block.bytes);
    } else if constexpr (H == V::log_in_registers + 1) {
      chunk_in_halves<V, H, First>(inputs, at, live, c, sums, block.bytes);
    } else {
      chunk_on_stack<V, H, First>(inputs, at, live, c, sums, block.bytes);
    }
  }
}

// Layers H-1 .. 0 in registers, then the outputs starting at `first`.
template <class V, unsigned H, bool AtZero, class Access, unsigned HChunk>
CALPE_INLINE void transform_forth_and_store(typename V::Register (&v)[std::size_t{1} << H],
                                            const TransformBlock& block,
                                            const Coefficients<V, HChunk>& c, std::size_t first,
                                            std::size_t at) {
  transform_forth<V, H, AtZero>(v, c, first);
  CALPE_UNROLL
  for (std::size_t j = 0; j < (std::size_t{1} << H); ++j) {
    if (first + j < block.wanted) Access{}.store(block.outputs[first + j] + at, v[j]);
  }
}

// Forward transform of the sums into the outputs, which may be the sums themselves.
template <class V, unsigned H, class Access>
void transform_finish(const TransformBlock& block) {
  using Register = typename V::Register;
  constexpr unsigned inner = H < V::log_in_registers ? H : V::log_in_registers;
  constexpr std::size_t inner_size = std::size_t{1} << inner;
  constexpr std::size_t size = std::size_t{1} << H;
  for (std::size_t done = 0; done < block.bytes; done += V::bytes) {
    const Coefficients<V, H> c(block.points, 0);
    const std::byte* const sums = block.sums + done;
    const std::size_t at = block.output_begin + done;
    if constexpr (H == inner) {
      Register v[size];
      CALPE_UNROLL
      for (std::size_t j = 0; j < size; ++j)
        v[j] = V::load(sums + j * block.bytes);
      transform_forth_and_store<V, inner, true, Access>(v, block, c, 0, at);
    } else if constexpr (H == inner + 1) {
      // The coefficient of the first layer is 0. Upper half first, because outputs may be the sums.
      Register v[inner_size];
      if (inner_size < block.wanted) {
        CALPE_UNROLL
        for (std::size_t j = 0; j < inner_size; ++j) {
          v[j] = V::add(V::load(sums + j * block.bytes),
                        V::load(sums + (j + inner_size) * block.bytes));
        }
        transform_forth_and_store<V, inner, false, Access>(v, block, c, inner_size, at);
      }
      CALPE_UNROLL
      for (std::size_t j = 0; j < inner_size; ++j)
        v[j] = V::load(sums + j * block.bytes);
      transform_forth_and_store<V, inner, true, Access>(v, block, c, 0, at);
    } else {
      Register column[size];
      for (std::size_t j = 0; j < size / 2; ++j) {  // the coefficient of the first layer is 0
        column[j] = V::load(sums + j * block.bytes);
        column[j + size / 2] = V::add(column[j], V::load(sums + (j + size / 2) * block.bytes));
      }
      for (unsigned layer = H - 1; layer-- > inner;) {
        const std::size_t half = std::size_t{1} << layer;
        for (std::size_t b = 0; b < block.wanted; b += 2 * half) {
          const std::byte* const table = c.at(layer, b);
          for (std::size_t j = b; j < b + half; ++j) {
            if (b != 0) column[j] = V::add(column[j], V::times(table, column[j + half]));
            column[j + half] = V::add(column[j + half], column[j]);
          }
        }
      }
      for (std::size_t b = 0; b < block.wanted; b += inner_size) {
        Register v[inner_size];
        CALPE_UNROLL
        for (std::size_t j = 0; j < inner_size; ++j)
          v[j] = column[b + j];
        if (b == 0) {
          transform_forth_and_store<V, inner, true, Access>(v, block, c, b, at);
        } else {
          transform_forth_and_store<V, inner, false, Access>(v, block, c, b, at);
        }
      }
    }
  }
}

// One chunk at a time over a block of columns whose sums stay in L1. Allows any number of inputs,
// because the prefetcher only has to follow those of one chunk.
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
  transform_finish<V, H, Access>(block);
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

// Multiply runs the matrix passes, Xor the XOR passes. Only the scalar path has two classes.
template <class Multiply, class Xor = Multiply>
constexpr CpuKernels make_kernels(const char* name, const char* description) {
  CpuKernels kernels = make_matrix_kernels<Multiply, Xor>(name, description);
  kernels.wide = wide_kernels<Multiply>();
  kernels.tags = tag_kernels<Multiply, Xor>();
#if !defined(CALPE_WITHOUT_ADDITIVE_FFT)
  kernels.transform_bytes = Multiply::bytes;
  fill_transforms<Multiply>(kernels);
  fill_butterflies<Multiply>(kernels);
#endif
  return kernels;
}

}  // namespace calpe::backend::cpu
