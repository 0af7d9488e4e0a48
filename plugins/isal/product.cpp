// SPDX-License-Identifier: Apache-2.0
#include "isal/product.hpp"

#include <algorithm>
#include <array>

#include <calpe/calpe.h>

#include "isal/field_tables.hpp"

namespace calpe_isal {

namespace {

constexpr std::size_t rows_at_once = 256;

Byte sum_of_column(const Product& job, std::size_t row, std::size_t column) {
  const Byte* cell = job.cells + row * job.row_stride;
  Byte sum = 0;
  for (std::size_t i = 0; i < job.columns; ++i, cell += job.column_stride)
    sum ^= product(*cell, job.inputs[i][column]);
  return sum;
}

void run_rows_plainly(const Product& job, std::size_t first, std::size_t count) {
  std::array<Byte, rows_at_once> sums;
  for (std::size_t column = 0; column < job.bytes; ++column) {
    for (std::size_t r = 0; r < count; ++r)
      sums[r] = sum_of_column(job, first + r, column);
    for (std::size_t r = 0; r < count; ++r) {
      Byte& output = job.outputs[first + r][column];
      output = static_cast<Byte>(job.accumulate ? output ^ sums[r] : sums[r]);
    }
  }
}

}  // namespace

void run_plainly(const Product& job) {
  for (std::size_t first = 0; first < job.rows; first += rows_at_once)
    run_rows_plainly(job, first, std::min(rows_at_once, job.rows - first));
}

void run(const Product& job) {
  const calpe_matrix matrix = {.struct_size = sizeof matrix,
                               .cells = job.cells,
                               .rows = job.rows,
                               .columns = job.columns,
                               .column_stride = job.column_stride,
                               .row_stride = job.row_stride};
  // Pointers to void and to bytes have the same representation.
  const calpe_status status =
      calpe_apply_matrix(&matrix, reinterpret_cast<const void* const*>(job.inputs),
                         reinterpret_cast<void* const*>(job.outputs), job.bytes,
                         job.accumulate ? CALPE_RUN_ACCUMULATE : 0, nullptr);
  if (status != CALPE_OK) run_plainly(job);
}

}  // namespace calpe_isal
