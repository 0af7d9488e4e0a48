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

// Cells in scratch memory, at equal distances.
template <class V>
struct StridedCells {
  std::byte* cells;
  std::size_t stride;

  CALPE_INLINE WidePair<V> load(std::size_t cell, std::size_t column) const {
    const std::byte* const at = cells + cell * stride + column;
    return {V::load(at), V::load(at + wide_unit_bytes)};
  }
  CALPE_INLINE void store(std::size_t cell, std::size_t column, const WidePair<V>& v) const {
    std::byte* const at = cells + cell * stride + column;
    V::store(at, v.low);
    V::store(at + wide_unit_bytes, v.high);
  }
};

template <class V>
struct AddedCells : StridedCells<V> {
  CALPE_INLINE void store(std::size_t cell, std::size_t column, WidePair<V> v) const {
    wide_add<V>(v, this->load(cell, column));
    StridedCells<V>::store(cell, column, v);
  }
};

// Fetches the next group, whose cells are the next of each block. Prefetchers of the hardware do
// not follow that many blocks.
template <class V>
struct FetchingCells : StridedCells<V> {
  CALPE_INLINE WidePair<V> load(std::size_t cell, std::size_t column) const {
    if (column == 0) {
      const std::byte* const next = this->cells + cell * this->stride + wide_cell_bytes;
      __builtin_prefetch(next);
      __builtin_prefetch(next + wide_unit_bytes);
    }
    return StridedCells<V>::load(cell, column);
  }
};

// Cells in shards. Checked cells may be null, or the target adds.
enum class WideSources { plain, fetching, checked };
enum class WideTargets { plain, checked };

template <class V, WideSources Kind>
struct SourceCells {
  const WideSource& source;

  CALPE_INLINE WidePair<V> load(std::size_t cell, std::size_t column) const {
    const std::byte* at = source.cells[cell];
    if (Kind == WideSources::checked && at == nullptr) return {V::zero(), V::zero()};
    at += source.begin + column;
    if (Kind == WideSources::fetching && column == 0) {
      // To L2, because shards at usual distances share few sets of L1.
      const std::byte* const next = source.next[cell] + source.begin;
      __builtin_prefetch(next, 0, 2);
      __builtin_prefetch(next + source.high, 0, 2);
    }
    return {V::load(at), V::load(at + source.high)};
  }
};

template <class V, WideTargets Kind>
struct TargetCells {
  const WideTarget& target;

  CALPE_INLINE void store(std::size_t cell, std::size_t column, WidePair<V> v) const {
    std::byte* at = target.cells[cell];
    if (Kind == WideTargets::checked && at == nullptr) return;
    at += target.begin + column;
    if (Kind == WideTargets::checked && target.adds) {
      wide_add<V>(v, {V::load(at), V::load(at + target.high)});
    }
    V::store(at, v.low);
    V::store(at + target.high, v.high);
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
  if constexpr (Done < Radix) {
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
    wide_back<V, Radix, Subfield, Done + 1>(v, points, position, layer);
  }
}

// The same layers, last to first.
template <class V, unsigned Radix, unsigned Subfield, unsigned Left = Radix>
CALPE_INLINE void wide_forth(WidePair<V> (&v)[std::size_t{1} << Radix], const std::byte* points,
                             std::size_t position, unsigned layer) {
  if constexpr (Left > 0) {
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
    wide_forth<V, Radix, Subfield, now>(v, points, position, layer);
  }
}

// Layers of the cells [begin, end), cell 0 being at `position`.
struct WideSpan {
  WidePointTables points;
  std::size_t position = 0;
  unsigned layer = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

template <class V, bool Back, unsigned Radix, unsigned Subfield, class From, class To>
CALPE_INLINE void wide_layers(const WideSpan& span, const From& from, const To& to) {
  constexpr std::size_t count = std::size_t{1} << Radix;
  const std::size_t step = std::size_t{1} << span.layer;
  for (std::size_t b = span.begin; b < span.end; b += count * step) {
    for (std::size_t j = b; j < b + step; ++j) {
      for (std::size_t column = 0; column < wide_unit_bytes; column += V::bytes) {
        WidePair<V> v[count];
        CALPE_UNROLL
        for (std::size_t i = 0; i < count; ++i)
          v[i] = from.load(j + i * step, column);
        if constexpr (Back) {
          wide_back<V, Radix, Subfield>(v, span.points.tables, span.position + b, span.layer);
        } else {
          wide_forth<V, Radix, Subfield>(v, span.points.tables, span.position + b, span.layer);
        }
        CALPE_UNROLL
        for (std::size_t i = 0; i < count; ++i)
          to.store(j + i * step, column, v[i]);
      }
    }
  }
}

// Number of the last `radix` layers from `layer` on that only have points in GF(2^8), for cells
// before `end`.
template <class V>
CALPE_INLINE unsigned wide_subfield_layers(std::size_t subfield, std::size_t end, unsigned layer,
                                           unsigned radix) {
  unsigned layers = radix;
  while (layers > 0 && (end - 1) >> (layer + radix - layers) >= subfield)
    --layers;
  return layers;
}

template <class V, bool Back, unsigned Radix, class From, class To>
void wide_pass(const WideSpan& span, const From& from, const To& to) {
  const unsigned subfield =
      wide_subfield_layers<V>(span.points.subfield, span.position + span.end, span.layer, Radix);
  if constexpr (Radix >= 3) {
    if (subfield == 3) return wide_layers<V, Back, Radix, 3>(span, from, to);
  }
  if constexpr (Radix >= 2) {
    if (subfield == 2) return wide_layers<V, Back, Radix, 2>(span, from, to);
  }
  if constexpr (Radix >= 1) {
    if (subfield == 1) return wide_layers<V, Back, Radix, 1>(span, from, to);
  }
  wide_layers<V, Back, Radix, 0>(span, from, to);
}

template <class V, bool Back, class From, class To>
void wide_pass(unsigned radix, const WideSpan& span, const From& from, const To& to) {
  switch (radix) {
    case 0:
      return wide_pass<V, Back, 0>(span, from, to);
    case 1:
      return wide_pass<V, Back, 1>(span, from, to);
    case 2:
      return wide_pass<V, Back, 2>(span, from, to);
    default:
      if constexpr (V::wide_log_radix >= 3) wide_pass<V, Back, 3>(span, from, to);
  }
}

// Layers that the next pass does, if `layers` are left: passes of nearly equal length.
template <class V>
CALPE_INLINE unsigned wide_next_radix(unsigned layers) {
  const unsigned passes = (layers + V::wide_log_radix - 1) / V::wide_log_radix;
  return passes == 0 ? 0 : (layers + passes - 1) / passes;
}

// The first pass: groups of cells with shards, groups that lack some, and zeros. Radices of the
// second kind have no variants for points in GF(2^8), as these are rare.
template <class V, unsigned Radix>
void wide_pass_from(const WideSpan& span, const WideSource& source, const StridedCells<V>& to) {
  constexpr std::size_t count = std::size_t{1} << Radix;
  const auto clip = [&](std::size_t cell) {
    return cell < span.begin ? span.begin : cell < span.end ? cell : span.end;
  };
  WideSpan part = span;
  part.end = clip(source.full / count * count);
  if (source.next != nullptr) {
    wide_pass<V, true, Radix>(part, SourceCells<V, WideSources::fetching>{source}, to);
  } else {
    wide_pass<V, true, Radix>(part, SourceCells<V, WideSources::plain>{source}, to);
  }
  part.begin = part.end;
  part.end = clip((source.live + count - 1) / count * count);
  wide_layers<V, true, Radix, 0>(part, SourceCells<V, WideSources::checked>{source}, to);
  std::memset(to.cells + part.end * to.stride, 0, (span.end - part.end) * to.stride);
}

template <class V, unsigned Radix>
void wide_pass_to(const WideSpan& span, const StridedCells<V>& from, const WideTarget& target) {
  constexpr std::size_t count = std::size_t{1} << Radix;
  const auto clip = [&](std::size_t cell) {
    return cell < span.begin ? span.begin : cell < span.end ? cell : span.end;
  };
  WideSpan part = span;
  part.end = clip(target.adds ? 0 : target.full / count * count);
  wide_pass<V, false, Radix>(part, from, TargetCells<V, WideTargets::plain>{target});
  part.begin = part.end;
  part.end = clip((target.live + count - 1) / count * count);
  wide_layers<V, false, Radix, 0>(part, from, TargetCells<V, WideTargets::checked>{target});
}

// Blocks of more cells than 2^wide_log_inner are transformed part by part, as 8 KiB stay in L1
// while shards pass through it.
inline constexpr unsigned wide_log_inner = 6;

template <class V>
void wide_blocks_back(const WideBlocksBack& blocks) {
  const unsigned inner = blocks.log_block < wide_log_inner ? blocks.log_block : wide_log_inner;
  const unsigned first = wide_next_radix<V>(inner);
  const std::size_t size = std::size_t{1} << blocks.log_block;
  for (std::size_t block = 0; block < blocks.count; ++block) {
    // Cell numbers are those of the source.
    const StridedCells<V> cells{
        blocks.cells + block * blocks.block_stride - block * size * wide_cell_bytes,
        wide_cell_bytes};
    const std::size_t end = (block + 1) * size;
    for (std::size_t begin = block * size; begin < end; begin += std::size_t{1} << inner) {
      WideSpan span{.points = blocks.points,
                    .position = blocks.position,
                    .begin = begin,
                    .end = begin + (std::size_t{1} << inner)};
      switch (first) {
        case 0:
          wide_pass_from<V, 0>(span, blocks.source, cells);
          break;
        case 1:
          wide_pass_from<V, 1>(span, blocks.source, cells);
          break;
        case 2:
          wide_pass_from<V, 2>(span, blocks.source, cells);
          break;
        default:
          if constexpr (V::wide_log_radix >= 3) wide_pass_from<V, 3>(span, blocks.source, cells);
      }
      span.layer = first;
      while (begin < blocks.source.live && span.layer < inner) {
        const unsigned radix = wide_next_radix<V>(inner - span.layer);
        wide_pass<V, true>(radix, span, cells, cells);
        span.layer += radix;
      }
    }
    WideSpan span{.points = blocks.points,
                  .position = blocks.position,
                  .layer = inner,
                  .begin = block * size,
                  .end = end};
    while (span.begin < blocks.source.live && span.layer < blocks.log_block) {
      const unsigned radix = wide_next_radix<V>(blocks.log_block - span.layer);
      wide_pass<V, true>(radix, span, cells, cells);
      span.layer += radix;
    }
  }
}

template <class V>
void wide_blocks_forth(const WideBlocksForth& blocks) {
  const unsigned inner = blocks.log_block < wide_log_inner ? blocks.log_block : wide_log_inner;
  const std::size_t size = std::size_t{1} << blocks.log_block;
  const bool in_place = blocks.target.cells == nullptr;
  for (std::size_t block = 0; block < blocks.count; ++block) {
    const StridedCells<V> cells{
        blocks.cells + block * blocks.block_stride - block * size * wide_cell_bytes,
        wide_cell_bytes};
    const std::size_t live = in_place || blocks.target.live > (block + 1) * size
                                 ? (block + 1) * size
                                 : blocks.target.live;
    WideSpan span{.points = blocks.points,
                  .position = blocks.position,
                  .layer = blocks.log_block,
                  .begin = block * size,
                  .end = (block + 1) * size};
    while (span.begin < live && span.layer > inner) {
      const unsigned radix = wide_next_radix<V>(span.layer - inner);
      span.layer -= radix;
      wide_pass<V, false>(radix, span, cells, cells);
    }
    for (std::size_t begin = block * size; begin < live; begin += std::size_t{1} << inner) {
      WideSpan part = span;
      part.begin = begin;
      part.end = begin + (std::size_t{1} << inner);
      unsigned left = inner;
      while (left > V::wide_log_radix || (in_place && left > 0)) {
        const unsigned radix = wide_next_radix<V>(left);
        left -= radix;
        part.layer = left;
        wide_pass<V, false>(radix, part, cells, cells);
      }
      part.layer = 0;
      if (in_place) continue;
      switch (left) {
        case 0:
          wide_pass_to<V, 0>(part, cells, blocks.target);
          break;
        case 1:
          wide_pass_to<V, 1>(part, cells, blocks.target);
          break;
        case 2:
          wide_pass_to<V, 2>(part, cells, blocks.target);
          break;
        default:
          if constexpr (V::wide_log_radix >= 3) wide_pass_to<V, 3>(part, cells, blocks.target);
      }
    }
  }
}

// Groups whose cells fit into registers.
template <class V, unsigned Radix, unsigned Subfield>
void wide_small_groups(const WideGroups& groups) {
  constexpr std::size_t size = std::size_t{1} << Radix;
  for (std::size_t at = 0; at < groups.count * wide_cell_bytes; at += wide_cell_bytes) {
    for (std::size_t column = 0; column < wide_unit_bytes; column += V::bytes) {
      const auto load = [&](WidePair<V>(&v)[size], const std::byte* cells) CALPE_INLINE_LAMBDA {
        CALPE_UNROLL
        for (std::size_t i = 0; i < size; ++i) {
          const std::byte* const from = cells + i * groups.block_stride + at + column;
          v[i] = {V::load(from), V::load(from + wide_unit_bytes)};
        }
      };
      WidePair<V> sums[size];
      std::size_t coset = 0;
      if (groups.start != nullptr) {
        load(sums, groups.start);
      } else {
        load(sums, groups.cosets[0]);
        wide_back<V, Radix, Subfield>(sums, groups.points.tables, groups.positions[0], 0);
        coset = 1;
      }
      for (; coset < groups.coset_count; ++coset) {
        WidePair<V> v[size];
        load(v, groups.cosets[coset]);
        wide_back<V, Radix, Subfield>(v, groups.points.tables, groups.positions[coset], 0);
        CALPE_UNROLL
        for (std::size_t i = 0; i < size; ++i)
          wide_add<V>(sums[i], v[i]);
      }
      if (groups.goes_forth) {
        wide_forth<V, Radix, Subfield>(sums, groups.points.tables, groups.forth_position, 0);
      }
      CALPE_UNROLL
      for (std::size_t i = 0; i < size; ++i) {
        std::byte* const to = groups.to + i * groups.block_stride + at + column;
        V::store(to, sums[i].low);
        V::store(to + wide_unit_bytes, sums[i].high);
      }
    }
  }
}

// Other groups stay in L1 from pass to pass.
template <class V>
void wide_large_groups(const WideGroups& groups) {
  const std::size_t size = std::size_t{1} << groups.log_group;
  for (std::size_t at = 0; at < groups.count * wide_cell_bytes; at += wide_cell_bytes) {
    const StridedCells<V> to{groups.to + at, groups.block_stride};
    bool has_sum = false;
    if (groups.start != nullptr) {
      if (groups.start != groups.to) {
        for (std::size_t i = 0; i < size; ++i) {
          std::memcpy(groups.to + at + i * groups.block_stride,
                      groups.start + at + i * groups.block_stride, wide_cell_bytes);
        }
      }
      has_sum = true;
    }
    for (std::size_t coset = 0; coset < groups.coset_count; ++coset) {
      const StridedCells<V> from{groups.cosets[coset] + at, groups.block_stride};
      const FetchingCells<V> first{from};
      WideSpan span{.points = groups.points, .position = groups.positions[coset], .end = size};
      unsigned radix = wide_next_radix<V>(groups.log_group);
      wide_pass<V, true>(radix, span, first, from);
      span.layer += radix;
      radix = wide_next_radix<V>(groups.log_group - span.layer);
      while (span.layer + radix < groups.log_group) {
        wide_pass<V, true>(radix, span, from, from);
        span.layer += radix;
        radix = wide_next_radix<V>(groups.log_group - span.layer);
      }
      if (has_sum) {
        wide_pass<V, true>(radix, span, from, AddedCells<V>{to});
      } else {
        wide_pass<V, true>(radix, span, from, to);
      }
      has_sum = true;
    }
    if (!groups.goes_forth) continue;
    WideSpan span{.points = groups.points,
                  .position = groups.forth_position,
                  .layer = groups.log_group,
                  .end = size};
    while (span.layer > 0) {
      const unsigned radix = wide_next_radix<V>(span.layer);
      span.layer -= radix;
      wide_pass<V, false>(radix, span, to, to);
    }
  }
}

template <class V, unsigned Radix>
CALPE_INLINE void wide_small_groups(const WideGroups& groups, unsigned subfield) {
  if constexpr (Radix >= 3) {
    if (subfield == 3) return wide_small_groups<V, Radix, 3>(groups);
  }
  if constexpr (Radix >= 2) {
    if (subfield == 2) return wide_small_groups<V, Radix, 2>(groups);
  }
  if constexpr (Radix >= 1) {
    if (subfield == 1) return wide_small_groups<V, Radix, 1>(groups);
  }
  wide_small_groups<V, Radix, 0>(groups);
}

template <class V>
void wide_groups(const WideGroups& groups) {
  std::size_t end = groups.goes_forth ? groups.forth_position : 0;
  for (std::size_t i = 0; i < groups.coset_count; ++i)
    end = end < groups.positions[i] ? groups.positions[i] : end;
  end += std::size_t{1} << groups.log_group;
  const unsigned subfield =
      wide_subfield_layers<V>(groups.points.subfield, end, 0, groups.log_group);
  switch (groups.log_group) {
    case 0:
      return wide_small_groups<V, 0>(groups, subfield);
    case 1:
      return wide_small_groups<V, 1>(groups, subfield);
    case 2:
      return wide_small_groups<V, 2>(groups, subfield);
    default:
      if constexpr (V::wide_log_radix >= 3) {
        if (groups.log_group == 3) return wide_small_groups<V, 3>(groups, subfield);
      }
      wide_large_groups<V>(groups);
  }
}

}  // namespace calpe::backend::cpu
