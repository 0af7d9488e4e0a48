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
  std::byte* outputs[Products + 1];

  CALPE_INLINE explicit FewColumn(const MatrixBlock& block) {
    CALPE_UNROLL
    for (std::size_t r = 0; r <= Products; ++r)
      outputs[r] = block.outputs[r];
    CALPE_UNROLL
    for (std::size_t i = 0; i < Inputs; ++i) {
      inputs[i] = block.inputs[i];
      CALPE_UNROLL
      for (std::size_t r = 0; r < Products; ++r) {
        coefficients[i][r] =
            V::load_matrix(block.tables + (i * (Products + 1) + r + 1) * table_bytes<V>);
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

  CALPE_INLINE void run(std::size_t position) const {
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
      V::store(outputs[r + 1] + position, row);
    }
    V::store(outputs[0] + position, sum);
  }
};

// The general pass handles the bytes after the last four vectors. Here the compiler would keep
// copies of all coefficients for them.
template <class V, std::size_t Inputs, std::size_t Products, bool SumTakesRows>
void few_pass(const MatrixBlock& block) {
  constexpr std::size_t step = 4 * V::bytes;
  const std::size_t whole = block.begin + (block.end - block.begin) / step * step;
  if (whole > block.begin) {
    const FewColumn<V, Inputs, Products, SumTakesRows> column(block);
    std::size_t position = block.begin;
    do {
      CALPE_UNROLL
      for (std::size_t u = 0; u < 4; ++u)
        column.run(position + u * V::bytes);
      position += step;
    } while (position < whole);
  }
  if (whole == block.end) return;
  MatrixBlock rest = block;
  rest.begin = whole;
  matrix_pass<V, Products, true, Write::over>(rest);
}

template <class V, std::size_t Inputs = few_inputs_max>
constexpr void fill_few(CpuKernels& kernels) {
  if constexpr (Inputs >= 2) {
    kernels.few[Inputs][0][0] = &few_pass<V, Inputs, 0, false>;
    kernels.few[Inputs][1][0] = &few_pass<V, Inputs, 1, false>;
    kernels.few[Inputs][1][1] = &few_pass<V, Inputs, 1, true>;
    if constexpr (3 * Inputs + 6 <= V::registers) {
      kernels.few[Inputs][2][0] = &few_pass<V, Inputs, 2, false>;
      if constexpr (Inputs > 2) kernels.few[Inputs][2][1] = &few_pass<V, Inputs, 2, true>;
    }
    fill_few<V, Inputs - 1>(kernels);
  }
}

}  // namespace calpe::backend::cpu
