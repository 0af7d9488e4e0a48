// SPDX-License-Identifier: Apache-2.0
// Applies a matrix to shards without a codec, for callers that keep their own coefficients and may
// change them with every call.
#pragma once
#include <cstddef>
#include <cstdint>

#include <calpe/codec.hpp>

namespace calpe {

// Coefficients in GF(2^8) with polynomial 0x11D, borrowed. The coefficient of output r and input i
// is the byte cells[r * row_stride + i * column_stride], so it can be part of a larger table.
struct CoefficientMatrix {
  const std::uint8_t* cells = nullptr;
  std::size_t rows = 0;           // outputs
  std::size_t columns = 0;        // inputs
  std::size_t column_stride = 0;  // bytes; 0 = 1
  std::size_t row_stride = 0;     // bytes; 0 = columns * column_stride
};

// Computes outputs[r] = sum over i of coefficient (r, i) * inputs[i] for `bytes` bytes of each
// shard. Any length, including 0, and any alignment is allowed. Without inputs the outputs become
// zero.
//
// Runs on the calling thread with the kernels of this CPU, or those that CALPE_CPU named at the
// first call. Only the first call allocates (tables). Each call costs one or two nanoseconds per
// coefficient on top of the product. A Codec avoids that, proves the code and supports other
// devices.
//
// Fails with invalid_argument for null pointers and for an output that overlaps an input or another
// output, and with backend_unavailable if CALPE_CPU names kernels that this CPU does not support.
// On failure the outputs are untouched. Thread-safe.
Status apply_matrix(const CoefficientMatrix& matrix, const std::byte* const* inputs,
                    std::byte* const* outputs, std::size_t bytes, const RunOptions& options = {});

}  // namespace calpe
