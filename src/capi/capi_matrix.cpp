// SPDX-License-Identifier: Apache-2.0
// calpe.h: the caller's own matrix.
#include <calpe/matrix_product.hpp>

#include "capi/capi_stripes.hpp"
#include "capi/capi_support.hpp"

using namespace calpe;
using namespace calpe::capi;

calpe_status calpe_apply_matrix(const calpe_matrix* matrix, const void* const* inputs,
                                void* const* outputs, size_t shard_bytes, uint32_t flags,
                                calpe_error* error) {
  return walled(error, [&] {
    if (matrix == nullptr) return null_argument("matrix is NULL", error);
    if (!known_flags(flags)) return unknown_flags(error);
    calpe_matrix full;
    if (matrix->struct_size == sizeof full) {
      full = *matrix;
    } else {
      const auto read = read_struct(matrix, "matrix");
      if (!read) return fail(read.error(), error);
      full = *read;
    }
    // Pointers to void and to bytes have the same representation.
    return finish(apply_matrix({.cells = full.cells,
                                .rows = full.rows,
                                .columns = full.columns,
                                .column_stride = full.column_stride,
                                .row_stride = full.row_stride},
                               reinterpret_cast<const std::byte* const*>(inputs),
                               reinterpret_cast<std::byte* const*>(outputs), shard_bytes,
                               to_run_options(flags)),
                  error);
  });
}
