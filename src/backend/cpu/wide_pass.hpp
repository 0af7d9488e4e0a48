// SPDX-License-Identifier: Apache-2.0
// Transforms of cells over GF(2^16), templates over a Vector class (matrix_pass.hpp). A pass does
// up to V::wide_log_radix layers in registers, so that a cell makes few trips to L1.
#pragma once
#include <cstddef>
#include <cstring>

#include "backend/cpu/matrix_pass.hpp"
#include "backend/cpu/wide_kernels.hpp"

namespace calpe::backend::cpu {

// Equal columns of a low and a high unit.
template <class V>
struct WidePair {
  typename V::Register low;
  typename V::Register high;
};

template <class V>
CALPE_INLINE void wide_add(WidePair<V>& x, const WidePair<V>& y) {
  x.low = V::add(x.low, y.low);
  x.high = V::add(x.high, y.high);
}

// x += c * y. InSubfield: c is in GF(2^8), and only its first table entry is used.
template <class V, bool InSubfield>
CALPE_INLINE void wide_add_product(WidePair<V>& x, const std::byte* table, const WidePair<V>& y) {
  const typename V::Register low = V::times(table, y.low);
  if constexpr (InSubfield) {
    x.low = V::add(x.low, low);
    x.high = V::add(x.high, V::times(table, y.high));
  } else {
    const typename V::Register high = V::times(table + table_bytes<V>, y.high);
    const typename V::Register both = V::times(table + 2 * table_bytes<V>, V::add(y.low, y.high));
    x.low = V::add(x.low, low, high);
    x.high = V::add(x.high, low, both);
  }
}

// Cells at any address, or one after the other in the work space.
template <class V>
struct ShardCells {
  const std::byte* const* from;
  std::byte* const* to;
  std::size_t begin;
  std::size_t high;
  bool adds;

  CALPE_INLINE WidePair<V> load(std::size_t cell, std::size_t column) const {
    const std::byte* const at = from[cell];
    if (at == nullptr) return {V::zero(), V::zero()};
    return {V::load(at + begin + column), V::load(at + begin + high + column)};
  }
  CALPE_INLINE void store(std::size_t cell, std::size_t column, WidePair<V> v) const {
    std::byte* at = to[cell];
    if (at == nullptr) return;
    at += begin + column;
    if (adds) wide_add<V>(v, {V::load(at), V::load(at + high)});
    V::store(at, v.low);
    V::store(at + high, v.high);
  }
};

template <class V>
struct WorkCells {
  std::byte* cells;

  CALPE_INLINE WidePair<V> load(std::size_t cell, std::size_t column) const {
    const std::byte* const at = cells + cell * wide_cell_bytes + column;
    return {V::load(at), V::load(at + wide_unit_bytes)};
  }
  CALPE_INLINE void store(std::size_t cell, std::size_t column, const WidePair<V>& v) const {
    std::byte* const at = cells + cell * wide_cell_bytes + column;
    V::store(at, v.low);
    V::store(at + wide_unit_bytes, v.high);
  }
};

// Table of points[index]; indices are even.
template <class V>
CALPE_INLINE const std::byte* wide_point(const std::byte* points, std::size_t index) {
  return points + index / 2 * (wide_table_entries * table_bytes<V>);
}

// Layers `layer` .. layer + Radix - 1 of 2^Radix pairs that are 2^layer cells apart, the first at
// `position`. The last Subfield of these layers have points in GF(2^8).
template <class V, unsigned Radix, unsigned Subfield, unsigned Done = 0>
CALPE_INLINE void wide_back(WidePair<V> (&v)[std::size_t{1} << Radix], const std::byte* points,
                            std::size_t position, unsigned layer) {
  constexpr std::size_t half = std::size_t{1} << Done;
  const std::size_t index = position >> (layer + Done);
  CALPE_UNROLL
  for (std::size_t b = 0; b < (std::size_t{1} << Radix); b += 2 * half) {
    const std::byte* const table = wide_point<V>(points, index + (b >> Done));
    CALPE_UNROLL
    for (std::size_t j = b; j < b + half; ++j) {
      wide_add<V>(v[j + half], v[j]);
      wide_add_product<V, (Done + Subfield >= Radix)>(v[j], table, v[j + half]);
    }
  }
  if constexpr (Done + 1 < Radix) {
    wide_back<V, Radix, Subfield, Done + 1>(v, points, position, layer);
  }
}

// The same layers, last to first.
template <class V, unsigned Radix, unsigned Subfield, unsigned Left = Radix>
CALPE_INLINE void wide_forth(WidePair<V> (&v)[std::size_t{1} << Radix], const std::byte* points,
                             std::size_t position, unsigned layer) {
  constexpr unsigned now = Left - 1;
  constexpr std::size_t half = std::size_t{1} << now;
  const std::size_t index = position >> (layer + now);
  CALPE_UNROLL
  for (std::size_t b = 0; b < (std::size_t{1} << Radix); b += 2 * half) {
    const std::byte* const table = wide_point<V>(points, index + (b >> now));
    CALPE_UNROLL
    for (std::size_t j = b; j < b + half; ++j) {
      wide_add_product<V, (now + Subfield >= Radix)>(v[j], table, v[j + half]);
      wide_add<V>(v[j + half], v[j]);
    }
  }
  if constexpr (now > 0) wide_forth<V, Radix, Subfield, now>(v, points, position, layer);
}

// One pass over all cells below `live`.
template <class V, bool Back, unsigned Radix, unsigned Subfield, class From, class To>
void wide_layers(const WideTransform& t, unsigned layer, const From& from, const To& to) {
  constexpr std::size_t count = std::size_t{1} << Radix;
  const std::size_t step = std::size_t{1} << layer;
  for (std::size_t b = 0; b < t.live; b += count * step) {
    for (std::size_t j = b; j < b + step; ++j) {
      for (std::size_t column = 0; column < wide_unit_bytes; column += V::bytes) {
        WidePair<V> v[count];
        CALPE_UNROLL
        for (std::size_t i = 0; i < count; ++i)
          v[i] = from.load(j + i * step, column);
        if constexpr (Back) {
          wide_back<V, Radix, Subfield>(v, t.points, t.position + b, layer);
        } else {
          wide_forth<V, Radix, Subfield>(v, t.points, t.position + b, layer);
        }
        CALPE_UNROLL
        for (std::size_t i = 0; i < count; ++i)
          to.store(j + i * step, column, v[i]);
      }
    }
  }
}

// Chooses the multiplications by the largest point that each layer uses.
template <class V, bool Back, unsigned Radix, class From, class To>
CALPE_INLINE void wide_layers(const WideTransform& t, unsigned layer, const From& from,
                              const To& to) {
  const std::size_t last = t.position + (std::size_t{1} << t.log_size) - 1;
  const auto in_subfield = [&](unsigned i) { return (last >> (layer + i)) < t.subfield; };
  if (in_subfield(0)) return wide_layers<V, Back, Radix, Radix>(t, layer, from, to);
  if constexpr (Radix > 1) {
    if (in_subfield(1)) return wide_layers<V, Back, Radix, Radix - 1>(t, layer, from, to);
  }
  if constexpr (Radix > 2) {
    if (in_subfield(2)) return wide_layers<V, Back, Radix, Radix - 2>(t, layer, from, to);
  }
  wide_layers<V, Back, Radix, 0>(t, layer, from, to);
}

template <class V, bool Back, class From, class To>
void wide_pass(const WideTransform& t, unsigned layer, unsigned radix, const From& from,
               const To& to) {
  if (radix == 1) return wide_layers<V, Back, 1>(t, layer, from, to);
  if (radix == 2) return wide_layers<V, Back, 2>(t, layer, from, to);
  if constexpr (V::wide_log_radix >= 3) wide_layers<V, Back, 3>(t, layer, from, to);
}

// Zeroes the cells that no pass computes, but the last pass reads. A template, as all code here.
template <class V>
CALPE_INLINE void wide_clear(const WideTransform& t, std::size_t computed) {
  const std::size_t size = std::size_t{1} << t.log_size;
  if (computed < size) {
    std::memset(t.work + computed * wide_cell_bytes, 0, (size - computed) * wide_cell_bytes);
  }
}

// All layers in passes of nearly equal length: the first reads the source, the last writes the
// target, and the cells are in the work space in between.
template <class V, bool Back>
void wide_transform(const WideTransform& t) {
  const ShardCells<V> source{t.source.cells, nullptr, t.source.begin, t.source.high, false};
  const ShardCells<V> target{nullptr, t.target.cells, t.target.begin, t.target.high, t.target.adds};
  const WorkCells<V> work{t.work};
  if (t.log_size == 0) {
    for (std::size_t column = 0; column < wide_unit_bytes; column += V::bytes)
      target.store(0, column, source.load(0, column));
    return;
  }
  unsigned passes = (t.log_size + V::wide_log_radix - 1) / V::wide_log_radix;
  unsigned done = 0;
  WideTransform inner = t;
  for (bool is_first = true; passes > 0; --passes, is_first = false) {
    const unsigned radix = (t.log_size - done + passes - 1) / passes;
    const unsigned layer = Back ? done : t.log_size - done - radix;
    done += radix;
    const bool is_last = passes == 1;
    if (Back && is_last) inner.live = std::size_t{1} << t.log_size;
    if (is_first && is_last) {
      wide_pass<V, Back>(inner, layer, radix, source, target);
    } else if (is_first) {
      if constexpr (Back) {
        const std::size_t group = std::size_t{1} << radix;
        wide_clear<V>(t, (t.live + group - 1) / group * group);
      }
      wide_pass<V, Back>(inner, layer, radix, source, work);
    } else if (is_last) {
      wide_pass<V, Back>(inner, layer, radix, work, target);
    } else {
      wide_pass<V, Back>(inner, layer, radix, work, work);
    }
  }
}

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
  const ShardCells<V> source{s.source.cells, nullptr, s.source.begin, s.source.high, false};
  const ShardCells<V> addend{s.addend.cells, nullptr, s.addend.begin, s.addend.high, false};
  const ShardCells<V> target{nullptr, s.target.cells, s.target.begin, s.target.high, s.target.adds};
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
  return {.back = &wide_transform<V, true>,
          .forth = &wide_transform<V, false>,
          .scale = &wide_scale<V>,
          .products = {nullptr, &wide_products<V, 1>, &wide_products<V, 2>, &wide_products<V, 3>,
                       &wide_products<V, 4>}};
}

}  // namespace calpe::backend::cpu
