// SPDX-License-Identifier: Apache-2.0
// Multiplies a matrix by shards, with Calpe's kernels or with plain loops.
#pragma once
#include <cstddef>

#include "isal/isal_abi.hpp"

namespace calpe_isal {

struct Product {
  const Byte* cells = nullptr;  // coefficient (r, i) is cells[r * row_stride + i * column_stride]
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t column_stride = 0;  // not 0
  std::size_t row_stride = 0;     // not 0
  const Byte* const* inputs = nullptr;
  Byte* const* outputs = nullptr;
  std::size_t bytes = 0;
  bool accumulate = false;
};

// Computes column by column, so an output may be one of the inputs.
void run_plainly(const Product& product);

// Uses Calpe's kernels. Falls back to run_plainly() if these refuse: when shards overlap, or when
// CALPE_CPU names kernels that this CPU does not support. ISA-L's functions cannot report errors.
void run(const Product& product);

}  // namespace calpe_isal
