// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include <calpe/matrix_product.hpp>

#include "backend/cpu/direct_product.hpp"
#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/run/overlap.hpp"
#include "engine/run/shard_lengths.hpp"

namespace calpe {

namespace {

namespace cpu = backend::cpu;

// Called when a pointer is null.
template <class Pointer>
Status refuse_null(const char* name, const Pointer* list, std::size_t count, std::size_t bytes) {
  if (list == nullptr) return invalid(name, " is null; expected ", count, " addresses");
  const std::span all(list, count);
  const auto null = std::ranges::find(all, nullptr);
  return invalid(name, "[", null - all.begin(), "] is null; expected ", bytes, " bytes");
}

template <class Pointer>
bool has_null(const Pointer* list, std::size_t count, std::size_t bytes) noexcept {
  if (list == nullptr) return count != 0;
  bool found = false;
  for (std::size_t i = 0; i < count; ++i)
    found |= list[i] == nullptr;
  return found && bytes != 0;
}

// Products of a stride and a count must not wrap around.
Status check_strides(const CoefficientMatrix& matrix) {
  const std::size_t columns = std::max<std::size_t>(1, matrix.columns);
  const std::size_t rows = std::max<std::size_t>(1, matrix.rows);
  const std::size_t column_stride = std::max<std::size_t>(1, matrix.column_stride);
  constexpr std::size_t most = engine::shard_bytes_max;
  const bool is_row_sound = column_stride <= most / columns;
  const std::size_t row_stride =
      matrix.row_stride != 0 || !is_row_sound ? matrix.row_stride : columns * column_stride;
  if (is_row_sound && row_stride <= most / rows) return Done{};
  return invalid("matrix has ", matrix.rows, " rows of ", matrix.columns, " cells with strides of ",
                 matrix.row_stride, " and ", matrix.column_stride,
                 " bytes, which is more than memory can hold");
}

Status check_cells(const CoefficientMatrix& matrix) {
  CALPE_CHECK(check_strides(matrix));
  if (matrix.cells != nullptr || matrix.rows == 0 || matrix.columns == 0) return Done{};
  return invalid("matrix.cells is null; expected ", matrix.rows, " x ", matrix.columns,
                 " coefficients");
}

cpu::CoefficientView view_of(const CoefficientMatrix& matrix) {
  const std::size_t column_stride = matrix.column_stride == 0 ? 1 : matrix.column_stride;
  const std::size_t row_stride =
      matrix.row_stride == 0 ? matrix.columns * column_stride : matrix.row_stride;
  return {matrix.cells,
          {.rows = matrix.rows,
           .columns = matrix.columns,
           .row_stride = row_stride,
           .column_stride = column_stride}};
}

}  // namespace

Status apply_matrix(const CoefficientMatrix& matrix, const std::byte* const* inputs,
                    std::byte* const* outputs, std::size_t bytes, const RunOptions& options) {
  return guarded([&]() -> Status {
    CALPE_CHECK(check_cells(matrix));
    if (bytes > engine::shard_bytes_max) {
      return invalid("shards have ", bytes, " bytes; expected at most ", engine::shard_bytes_max);
    }
    if (has_null(inputs, matrix.columns, bytes))
      return refuse_null("inputs", inputs, matrix.columns, bytes);
    if (has_null(outputs, matrix.rows, bytes))
      return refuse_null("outputs", outputs, matrix.rows, bytes);
    CALPE_CHECK(engine::check_overlap(std::span(inputs, matrix.columns),
                                      std::span(outputs, matrix.rows), bytes));
    const auto& product = cpu::DirectProduct::of_this_cpu();
    if (!product) return product.error();
    (*product)->run(view_of(matrix), {.inputs = inputs,
                                      .outputs = outputs,
                                      .bytes = bytes,
                                      .accumulate = options.accumulate,
                                      .stores = options.stores});
    return Done{};
  });
}

}  // namespace calpe
