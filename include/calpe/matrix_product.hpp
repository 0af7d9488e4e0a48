// SPDX-License-Identifier: Apache-2.0
// A caller's own matrix applied to shards, without a codec: for those who keep their coefficients
// themselves and may change them with every call.
#pragma once
#include <cstddef>
#include <cstdint>

#include <calpe/codec.hpp>

namespace calpe {

// Coefficients of GF(2^8) with polynomial 0x11D, borrowed. That of output r and input i is the byte
// cells[r * row_stride + i * column_stride], so they may lie inside tables of another library.
struct CoefficientMatrix {
  const std::uint8_t* cells = nullptr;
  std::size_t rows = 0;           // outputs
  std::size_t columns = 0;        // inputs
  std::size_t column_stride = 0;  // bytes; 0: 1
  std::size_t row_stride = 0;     // bytes; 0: columns * column_stride
};

// outputs[r] = sum over i of coefficient (r, i) * inputs[i], for `bytes` bytes of each, any number
// from 0 on, at any alignment. Without inputs outputs are zero. Runs on the caller's thread by the
// static kernels of this CPU, or of the path that CALPE_CPU named when this was first called, and
// allocates nothing but tables at the first call. What it costs beyond the product is one or two
// nanoseconds per coefficient; a Codec prepares that, checks the code, and knows other devices.
// Fails with invalid_argument for null pointers and for an output that overlaps an input or another
// output, with backend_unavailable when CALPE_CPU names no path of this CPU; outputs are then
// untouched. Shareable by threads.
Status apply_matrix(const CoefficientMatrix& matrix, const std::byte* const* inputs,
                    std::byte* const* outputs, std::size_t bytes, const RunOptions& options = {});

}  // namespace calpe
