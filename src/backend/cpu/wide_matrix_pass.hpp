// SPDX-License-Identifier: Apache-2.0
// Products of cells over GF(2^16) with coefficients of a plan, templates over a Vector class, and
// the table of all kernels over GF(2^16).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backend/cpu/wide_pass.hpp"

namespace calpe::backend::cpu {

template <class V>
CALPE_INLINE void wide_load_table(std::byte (&to)[wide_table_entries * table_bytes<V>],
                                  const std::byte* tables, std::size_t coefficient) {
  const std::size_t p = coefficient & 255;
  const std::size_t q = coefficient >> 8;
  std::memcpy(to, tables + p * table_bytes<V>, table_bytes<V>);
  std::memcpy(to + table_bytes<V>, tables + (256 + q) * table_bytes<V>, table_bytes<V>);
  std::memcpy(to + 2 * table_bytes<V>, tables + (p ^ q) * table_bytes<V>, table_bytes<V>);
}

template <class V>
void wide_scale(const WideScale& s) {
  const SourceCells<V, WideSources::checked> source{s.source};
  const SourceCells<V, WideSources::checked> addend{s.addend};
  const TargetCells<V, WideTargets::checked> target{s.target};
  for (std::size_t j = 0; j < s.count; ++j) {
    if (s.target.cells[j] == nullptr) continue;
    std::byte table[wide_table_entries * table_bytes<V>];
    wide_load_table<V>(table, s.tables, s.factors[j]);
    for (std::size_t column = 0; column < wide_unit_bytes; column += V::bytes) {
      WidePair<V> x = source.load(j, column);
      if (s.addend.cells != nullptr) wide_add<V>(x, addend.load(j, column));
      WidePair<V> product{V::zero(), V::zero()};
      wide_add_product<V, false>(product, table, x);
      target.store(j, column, product);
    }
  }
}

// Rows x Cells sums in registers over all inputs.
template <class V, std::size_t Rows, std::size_t Cells>
CALPE_INLINE void wide_matrix_cells(const WideMatrixPart& part, const std::byte* const* inputs,
                                    std::byte* const* outputs, std::size_t at) {
  WidePair<V> sums[Rows][Cells];
  CALPE_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    CALPE_UNROLL
    for (std::size_t c = 0; c < Cells; ++c) {
      const std::byte* const from = outputs[r] + at + c * part.cell_step;
      sums[r][c] = part.adds ? WidePair<V>{V::load(from), V::load(from + part.high)}
                             : WidePair<V>{V::zero(), V::zero()};
    }
  }
  const std::uint16_t* coefficient = part.coefficients;
  for (std::size_t i = 0; i < part.input_count; ++i, coefficient += Rows) {
    const std::byte* const from = inputs[i] + at;
    const std::byte* first[Rows];
    const std::byte* second[Rows];
    const std::byte* third[Rows];
    CALPE_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const std::size_t p = coefficient[r] & 255U;
      const std::size_t q = coefficient[r] >> 8;
      first[r] = part.tables + p * table_bytes<V>;
      second[r] = part.tables + (256 + q) * table_bytes<V>;
      third[r] = part.tables + (p ^ q) * table_bytes<V>;
    }
    CALPE_UNROLL
    for (std::size_t c = 0; c < Cells; ++c) {
      const typename V::Register low = V::load(from + c * part.cell_step);
      const typename V::Register high = V::load(from + c * part.cell_step + part.high);
      const typename V::Register both = V::add(low, high);
      CALPE_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const typename V::Register common = V::times(first[r], low);
        sums[r][c].low = V::add(sums[r][c].low, common, V::times(second[r], high));
        sums[r][c].high = V::add(sums[r][c].high, common, V::times(third[r], both));
      }
    }
  }
  CALPE_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    CALPE_UNROLL
    for (std::size_t c = 0; c < Cells; ++c) {
      std::byte* const to = outputs[r] + at + c * part.cell_step;
      V::store(to, sums[r][c].low);
      V::store(to + part.high, sums[r][c].high);
    }
  }
}

template <class V, std::size_t Rows>
void wide_products(const WideMatrixPart& part, const std::byte* const* inputs,
                   std::byte* const* outputs) {
  // Sums in two thirds of the registers.
  constexpr std::size_t fitting = V::registers / (3 * Rows);
  constexpr std::size_t cells = fitting >= 8 ? 8 : fitting >= 4 ? 4 : fitting >= 2 ? 2 : 1;
  std::size_t cell = 0;
  for (; cell + cells <= part.count; cell += cells) {
    for (std::size_t column = 0; column < wide_unit_bytes; column += V::bytes) {
      wide_matrix_cells<V, Rows, cells>(part, inputs, outputs,
                                        part.begin + cell * part.cell_step + column);
    }
  }
  for (; cell < part.count; ++cell) {
    for (std::size_t column = 0; column < wide_unit_bytes; column += V::bytes) {
      wide_matrix_cells<V, Rows, 1>(part, inputs, outputs,
                                    part.begin + cell * part.cell_step + column);
    }
  }
}

template <class V>
constexpr WideKernels wide_kernels() {
  static_assert(wide_rows_max == 4);
  return {
#if !defined(CALPE_WITHOUT_ADDITIVE_FFT)
    .back = &wide_blocks_back<V>, .forth = &wide_blocks_forth<V>, .groups = &wide_groups<V>,
    .scale = &wide_scale<V>,
#endif
    .products = {
      nullptr,
      &wide_products<V, 1>,
      &wide_products<V, 2>,
      &wide_products<V, 3>,
      &wide_products<V, 4>
    }
  };
}

}  // namespace calpe::backend::cpu
