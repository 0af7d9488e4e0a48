// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/direct_product.hpp"

#include <algorithm>
#include <array>

#include "backend/cpu/matrix_runner.hpp"
#include "backend/cpu/path_choice.hpp"

namespace calpe::backend::cpu {

namespace {

// 512 coefficients of 32 bytes, or 2048 of 8 bytes: enough for every usual code, such as 32+16.
constexpr std::size_t table_memory_bytes = 16384;
using TableMemory = std::array<std::byte, table_memory_bytes>;

// Cuts larger matrices into tiles, and shards into pieces that stay in cache from tile to tile.
// Tables are rebuilt for each piece, at 2 % of the time of a 4 KiB product.
constexpr std::size_t tile_inputs = 16;
constexpr std::size_t tile_column_bytes = 4096;

// Avoids a division, which would be significant in a small call.
bool fits(const CoefficientView& rows, TableKind kind) {
  return rows.rows() <= table_memory_bytes && rows.columns() <= table_memory_bytes &&
         rows.rows() * rows.columns() * table_entry_bytes(kind) <= table_memory_bytes;
}

// A product of short shards takes a few hundred nanoseconds. A runner with its passes, turns,
// alignment and streaming would cost a tenth of that without a gain, unless a row is a sum.
constexpr std::size_t short_bytes_max = 8191;
constexpr std::size_t short_inputs_max = 32;

bool may_have_sum(const CoefficientView& rows) {
  unsigned sum = 0;
  for (std::size_t r = 0; r < rows.rows(); ++r)
    sum ^= rows(r, 0);
  return rows(0, 0) == 1 || sum == 1;
}

bool is_short(const CoefficientView& rows, const DirectJob& job, const CpuKernels& kernels) {
  return job.bytes <= short_bytes_max && job.stores != Stores::streaming && rows.rows() > 0 &&
         rows.rows() <= kernels.rows_max && rows.columns() > 2 &&  // fewer may be a change
         rows.columns() <= short_inputs_max && !may_have_sum(rows);
}

}  // namespace

DirectProduct::DirectProduct(const CpuKernels& kernels)
    : kernels_(kernels), tables_(**gf::Field::create(8, 0), kernels.table_kind) {}

const Result<const DirectProduct*>& DirectProduct::of_this_cpu() {
  using Chosen = Result<const DirectProduct*>;
  static const Chosen& chosen = *new Chosen([]() -> Chosen {
    const Result<const CpuKernels*> kernels = choose_kernels();
    if (!kernels) return kernels.error();
    return new DirectProduct(**kernels);
  }());
  return chosen;
}

void DirectProduct::run(const CoefficientView& rows, const DirectJob& job) const {
  if (!fits(rows, kernels_.table_kind)) return run_tiles(rows, job);
  if (is_short(rows, job, kernels_)) return run_short(rows, job);
  alignas(64) TableMemory memory;
  MatrixRunner::borrow(rows, kernels_, tables_, memory)
      .run({.inputs = job.inputs,
            .outputs = job.outputs,
            .geometry = {.unit_bytes = job.bytes},
            .accumulate = job.accumulate,
            .stores = job.stores});
}

void DirectProduct::run_short(const CoefficientView& rows, const DirectJob& job) const {
  alignas(64) TableMemory memory;
  if (table_entry_bytes(kernels_.table_kind) == 8) {
    gather<8>(rows, 0, rows.rows(), tables_.entries(), memory.data());
  } else {
    gather<32>(rows, 0, rows.rows(), tables_.entries(), memory.data());
  }
  const MatrixKernels& variants = kernels_.products[rows.rows()];
  (job.accumulate ? variants.add : variants.over)(
      {.tables = memory.data(), .input_count = rows.columns()}, job.inputs, job.outputs, 0,
      job.bytes);
}

void DirectProduct::run_tiles(const CoefficientView& rows, const DirectJob& job) const {
  alignas(64) TableMemory memory;
  const std::size_t entries = table_memory_bytes / table_entry_bytes(kernels_.table_kind);
  const std::size_t tile_rows = entries / tile_inputs;
  for (std::size_t begin = 0; begin < job.bytes; begin += tile_column_bytes) {
    for (std::size_t row = 0; row < rows.rows(); row += tile_rows) {
      const std::size_t row_count = std::min(tile_rows, rows.rows() - row);
      for (std::size_t input = 0; input < rows.columns(); input += tile_inputs) {
        const std::size_t input_count = std::min(tile_inputs, rows.columns() - input);
        MatrixRunner::borrow(rows.part(row, row_count, input, input_count), kernels_, tables_,
                             memory)
            .run({.inputs = job.inputs + input,
                  .outputs = job.outputs + row,
                  .geometry = {.offset = begin,
                               .unit_bytes = std::min(tile_column_bytes, job.bytes - begin)},
                  .accumulate = job.accumulate || input != 0,
                  .stores = Stores::cached});
      }
    }
  }
}

}  // namespace calpe::backend::cpu
