// SPDX-License-Identifier: Apache-2.0
// A matrix times shards, with coefficients at two strides: by Calpe, or in plain loops.
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

// Column by column: an output may be one of the inputs.
void run_plainly(const Product& product);

// By Calpe's kernels; plainly where these refuse, which they do when shards overlap or when
// CALPE_CPU names a path that this CPU lacks. ISA-L's functions have no way to report either.
void run(const Product& product);

}  // namespace calpe_isal
