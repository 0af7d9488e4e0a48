// SPDX-License-Identifier: Apache-2.0
// Matrix passes for few inputs and rows, the first row a sum. The number of inputs is a template
// argument, so all coefficients stay in registers. Makes small stripes a fifth faster, as their
// time is mostly overhead.
#pragma once
#include <cstddef>

#include "backend/cpu/matrix_pass.hpp"

namespace calpe::backend::cpu {

template <class V, std::size_t Inputs, std::size_t Products, bool SumTakesRows>
struct FewColumn {
  using Register = typename V::Register;
  static constexpr std::size_t summed = SumTakesRows ? Inputs - Products : Inputs;

  Register coefficients[Inputs][Products > 0 ? Products : 1];
  const std::byte* inputs[Inputs];

  CALPE_INLINE FewColumn(const MatrixPart& part, const std::byte* const* from) {
    CALPE_UNROLL
    for (std::size_t i = 0; i < Inputs; ++i) {
      inputs[i] = from[i];
      CALPE_UNROLL
      for (std::size_t r = 0; r < Products; ++r) {
        coefficients[i][r] =
            V::load_matrix(part.tables + (i * (Products + 1) + r + 1) * table_bytes<V>);
      }
    }
  }

  // The sum of the first Count of x, added in pairs.
  template <std::size_t Count>
  static CALPE_INLINE Register add_up(const Register (&x)[Inputs]) {
    Register total = x[0];
    CALPE_UNROLL
    for (std::size_t i = 1; i < Count; i += 2)
      total = i + 1 < Count ? V::add(total, x[i], x[i + 1]) : V::add(total, x[i]);
    return total;
  }

  // Calls take(row, value) for every row of the column.
  template <class Take>
  CALPE_INLINE void run(std::size_t position, const Take& take) const {
    Register x[Inputs];
    CALPE_UNROLL
    for (std::size_t i = 0; i < Inputs; ++i) {
      x[i] = V::load(inputs[i] + position);
      if constexpr (Products > 0)
        V::keep(x[i]);  // otherwise g++ loads it twice, once as 64-bit lanes
    }
    Register sum = add_up<summed>(x);
    CALPE_UNROLL
    for (std::size_t r = 0; r < Products; ++r) {
      Register products[Inputs];
      CALPE_UNROLL
      for (std::size_t i = 0; i < Inputs; ++i)
        products[i] = V::product(coefficients[i][r], x[i]);
      const Register row = add_up<Inputs>(products);
      if constexpr (SumTakesRows) sum = V::add(sum, row);
      take(r + 1, row);
    }
    take(0, sum);
  }
};

// The general pass handles the bytes after the last four vectors. Here the compiler would keep
// copies of all coefficients for them.
template <class V, std::size_t Inputs, std::size_t Products, bool SumTakesRows>
void few_pass(const MatrixPart& part, const std::byte* const* inputs, std::byte* const* outputs,
              std::size_t begin, std::size_t end) {
  constexpr std::size_t step = 4 * V::bytes;
  const std::size_t whole = begin + (end - begin) / step * step;
  if (whole > begin) {
    const FewColumn<V, Inputs, Products, SumTakesRows> column(part, inputs);
    std::byte* to[Products + 1];
    CALPE_UNROLL
    for (std::size_t r = 0; r <= Products; ++r)
      to[r] = outputs[r];
    std::size_t position = begin;
    do {
      CALPE_UNROLL
      for (std::size_t u = 0; u < 4; ++u) {
        const std::size_t at = position + u * V::bytes;
        column.run(at, [&](std::size_t row, typename V::Register value)
                           CALPE_INLINE_LAMBDA { V::store(to[row] + at, value); });
      }
      position += step;
    } while (position < whole);
  }
  if (whole == end) return;
  matrix_pass<V, Products, true, Write::over>(part, inputs, outputs, whole, end);
}

// Compares pairs of vectors, and leaves the rest to the general pass.
template <class V, std::size_t Inputs, std::size_t Products>
bool compare_few(const MatrixPart& part, const std::byte* const* inputs,
                 const std::byte* const* outputs, std::size_t begin, std::size_t end) {
  constexpr std::size_t step = 2 * V::bytes;
  typename V::Register noted[2] = {V::zero(), V::zero()};
  std::size_t position = begin;
  if (end - begin >= step) {
    const FewColumn<V, Inputs, Products, false> column(part, inputs);
    const std::byte* stored[Products + 1];
    CALPE_UNROLL
    for (std::size_t r = 0; r <= Products; ++r)
      stored[r] = outputs[r];
    do {
      CALPE_UNROLL
      for (std::size_t u = 0; u < 2; ++u) {
        const std::size_t at = position + u * V::bytes;
        column.run(at, [&](std::size_t row, typename V::Register value) CALPE_INLINE_LAMBDA {
          noted[u] = V::note(noted[u], V::load(stored[row] + at), value);
        });
      }
      position += step;
    } while (end - position >= step);
  }
  if (!V::is_zero(V::note(noted[0], noted[1], V::zero()))) return false;
  return position == end || compare_pass<V, Products, true>(part, inputs, outputs, position, end);
}

template <class V, std::size_t Inputs = few_inputs_max>
constexpr void fill_few(CpuKernels& kernels) {
  if constexpr (Inputs >= 2) {
    kernels.few[Inputs][0][0] = &few_pass<V, Inputs, 0, false>;
    kernels.compare_few[Inputs][0] = &compare_few<V, Inputs, 0>;
    kernels.compare_few[Inputs][1] = &compare_few<V, Inputs, 1>;
    kernels.few[Inputs][1][0] = &few_pass<V, Inputs, 1, false>;
    kernels.few[Inputs][1][1] = &few_pass<V, Inputs, 1, true>;
    if constexpr (3 * Inputs + 6 <= V::registers) {
      kernels.few[Inputs][2][0] = &few_pass<V, Inputs, 2, false>;
      kernels.compare_few[Inputs][2] = &compare_few<V, Inputs, 2>;
      if constexpr (Inputs > 2) kernels.few[Inputs][2][1] = &few_pass<V, Inputs, 2, true>;
    }
    fill_few<V, Inputs - 1>(kernels);
  }
}

}  // namespace calpe::backend::cpu
