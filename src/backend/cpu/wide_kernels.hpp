// SPDX-License-Identifier: Apache-2.0
// Kernels of codes over GF(2^16) = GF(2^8)[u] / (u^2 + u + e): an element a + b * u is a byte a of
// a low unit and a byte b of a high unit. May include only <cstddef> and <cstdint>
// (cpu_kernels.hpp).
//
// They work on cells: 64 bytes of the low unit and 64 bytes of the high unit. A product by the
// coefficient p + q * u takes three products of GF(2^8) instead of four:
//   low = p*a + (e*q)*b,  high = p*a + (p+q)*(a+b)
// Its table has the entries of p, e*q and p+q, in this order.
#pragma once
#include <cstddef>
#include <cstdint>

namespace calpe::backend::cpu {

inline constexpr std::size_t wide_unit_bytes = 64;  // of a cell
inline constexpr std::size_t wide_cell_bytes = 2 * wide_unit_bytes;
inline constexpr std::size_t wide_table_entries = 3;
// Cells of one transform, 32 KiB, so that they stay in L1. Longer transforms consist of several.
inline constexpr unsigned wide_log_max = 8;
inline constexpr std::size_t wide_block_cells = std::size_t{1} << wide_log_max;

// Cells in shards or in scratch memory: cell j has its low bytes at cells[j] + begin and its high
// bytes `high` further on. A null cell is zero when read, and is not written.
struct WideSource {
  const std::byte* const* cells = nullptr;
  std::size_t begin = 0;
  std::size_t high = wide_unit_bytes;
};
struct WideTarget {
  std::byte* const* cells = nullptr;
  std::size_t begin = 0;
  std::size_t high = wide_unit_bytes;
  bool adds = false;
};

// A transform of 2^log_size cells, from the source to the target, which may be the same cells.
struct WideTransform {
  const std::byte* points = nullptr;  // tables of the points with even indices
  std::size_t subfield = 0;           // points with a smaller index are elements of GF(2^8)
  unsigned log_size = 0;              // at most wide_log_max
  std::size_t position = 0;           // of the first cell, a multiple of 2^log_size
  std::size_t live = 0;               // cells from this one on are zero (back) or unwanted (forth)
  WideSource source = {};
  WideTarget target = {};
  std::byte* work = nullptr;  // 2^log_size cells, aligned to a cell
};
using WideTransformKernel = void (*)(const WideTransform& transform);

// target[j] = (source[j] + addend[j]) * factors[j] for `count` cells.
struct WideScale {
  const std::byte* tables = nullptr;  // see WideMatrixPart
  const std::uint16_t* factors = nullptr;
  std::size_t count = 0;
  WideSource source = {};
  WideSource addend = {};
  WideTarget target = {};
};
using WideScaleKernel = void (*)(const WideScale& scale);

// outputs[r] = sum over i of c(i, r) * inputs[i], for `count` cells of every shard.
struct WideMatrixPart {
  const std::byte* tables = nullptr;  // products in GF(2^8): entries of 0..255, then of e * 0..255
  const std::uint16_t* coefficients = nullptr;  // c(i, r) is number i * rows + r
  std::size_t input_count = 0;
  std::size_t cell_step = 0;  // from a cell of a shard to the next
  std::size_t count = 0;
  std::size_t begin = 0;
  std::size_t high = wide_unit_bytes;
  bool adds = false;
};
using WideMatrixKernel = void (*)(const WideMatrixPart& part, const std::byte* const* inputs,
                                  std::byte* const* outputs);

inline constexpr std::size_t wide_rows_max = 4;

struct WideKernels {
  WideTransformKernel back;
  WideTransformKernel forth;
  WideScaleKernel scale;
  WideMatrixKernel products[wide_rows_max + 1];  // [rows]
};

}  // namespace calpe::backend::cpu
