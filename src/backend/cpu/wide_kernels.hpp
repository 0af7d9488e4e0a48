// SPDX-License-Identifier: Apache-2.0
// Kernels of codes over GF(2^16) = GF(2^8)[u] / (u^2 + u + e): an element a + b * u is a byte a of
// a low unit and a byte b of a high unit. May include only <cstddef> and <cstdint>
// (cpu_kernels.hpp).
//
// They work on cells: 64 bytes of the low unit and 64 bytes of the high unit. A product by the
// coefficient p + q * u takes three products of GF(2^8) instead of four:
//   low = p*a + (e*q)*b,  high = p*a + (p+q)*(a+b)
// Its table has the entries of p, e*q and p+q, in this order.
//
// A transform of N cells has two parts: its first layers transform blocks of 2^log_block cells, its
// other layers groups. A group has one cell of every block, and its transform is that of a block of
// fewer cells, at the position of the coset divided by 2^log_block: the point of a layer only
// depends on the bits above it. So blocks are read and written in L1, and groups once.
#pragma once
#include <cstddef>
#include <cstdint>

namespace calpe::backend::cpu {

inline constexpr std::size_t wide_unit_bytes = 64;  // of a cell
inline constexpr std::size_t wide_cell_bytes = 2 * wide_unit_bytes;
inline constexpr std::size_t wide_table_entries = 3;
inline constexpr unsigned wide_log_block_max = 8;  // cells of 32 KiB

// Cells in shards: cell j has its low bytes at cells[j] + begin and its high bytes `high` further
// on. A null cell is zero when read, and is not written. The first `full` cells are not null, those
// from `live` on are.
struct WideSource {
  const std::byte* const* cells = nullptr;
  const std::byte* const* next = nullptr;  // cells to fetch into L2, at least `full`; or null
  std::size_t begin = 0;
  std::size_t high = wide_unit_bytes;
  std::size_t full = 0;
  std::size_t live = 0;
};
struct WideTarget {
  std::byte* const* cells = nullptr;
  std::size_t begin = 0;
  std::size_t high = wide_unit_bytes;
  std::size_t full = 0;
  std::size_t live = 0;
  bool adds = false;
};

struct WidePointTables {
  const std::byte* tables = nullptr;  // of the points with even indices
  std::size_t subfield = 0;           // points with a smaller index are elements of GF(2^8)
};

// The layers of blocks, from shards to cells in scratch memory.
struct WideBlocksBack {
  WidePointTables points;
  unsigned log_block = 0;
  std::size_t count = 1;     // of blocks
  std::size_t position = 0;  // of the first cell
  WideSource source = {};
  std::byte* cells = nullptr;  // of the first block, one after the other
  std::size_t block_stride = 0;
};

// The layers of blocks, from cells, which are overwritten, to shards; without shards, in place.
struct WideBlocksForth {
  WidePointTables points;
  unsigned log_block = 0;
  std::size_t count = 1;
  std::size_t position = 0;
  std::byte* cells = nullptr;
  std::size_t block_stride = 0;
  WideTarget target = {};
};

// The layers of all groups: the sum of `start` and of the cosets, each transformed back, is
// transformed forward. Cell i of group j is i * block_stride + j * wide_cell_bytes from the start.
struct WideGroups {
  WidePointTables points;
  unsigned log_group = 0;
  std::size_t count = 0;  // of groups
  std::size_t block_stride = 0;
  const std::byte* start = nullptr;        // or null
  std::byte* const* cosets = nullptr;      // overwritten
  const std::size_t* positions = nullptr;  // of the cosets
  std::size_t coset_count = 0;
  bool goes_forth = false;
  std::size_t forth_position = 0;
  std::byte* to = nullptr;  // may be the start, or the first coset
};

// target[j] = (source[j] + addend[j]) * factors[j] for `count` cells.
struct WideScale {
  const std::byte* tables = nullptr;  // see WideMatrixPart
  const std::uint16_t* factors = nullptr;
  std::size_t count = 0;
  WideSource source = {};
  WideSource addend = {};
  WideTarget target = {};
};

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

// Builds without additive-fft only have products.
struct WideKernels {
  void (*back)(const WideBlocksBack& blocks) = nullptr;
  void (*forth)(const WideBlocksForth& blocks) = nullptr;
  void (*groups)(const WideGroups& groups) = nullptr;
  void (*scale)(const WideScale& scale) = nullptr;
  WideMatrixKernel products[wide_rows_max + 1];  // [rows]
};

}  // namespace calpe::backend::cpu
