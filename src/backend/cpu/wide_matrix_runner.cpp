// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/wide_matrix_runner.hpp"

#include <algorithm>
#include <array>

#include "base/try.hpp"

namespace calpe::backend::cpu {

namespace {

// With several passes, the inputs of a turn are read again and must still be in L2.
constexpr std::size_t turn_bytes = std::size_t{256} << 10;
constexpr std::size_t turn_inputs_min = 64;
constexpr std::size_t staged_inputs_max = 256;

}  // namespace

Result<WideMatrixRunner> WideMatrixRunner::create(const gf::Field& field, const gf::Matrix& rows,
                                                  const CpuKernels& kernels,
                                                  WideTableCache& cache) {
  WideMatrixRunner runner;
  CALPE_TRY(runner.products_, cache.products(field));
  runner.kernels_ = &kernels;
  runner.inputs_ = rows.columns();
  runner.outputs_ = rows.rows();
  runner.coefficients_.reserve(rows.rows() * rows.columns());
  runner.for_each_pass([&](std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < rows.columns(); ++i) {
      for (std::size_t r = 0; r < count; ++r)
        runner.coefficients_.push_back(rows(first + r, i));
    }
  });
  return runner;
}

// Calls use(first row, number of rows).
template <class Use>
void WideMatrixRunner::for_each_pass(Use use) const {
  for (std::size_t row = 0; row < outputs_; row += wide_rows_max)
    use(row, std::min(wide_rows_max, outputs_ - row));
}

std::size_t WideMatrixRunner::turn_inputs(std::size_t cells) const noexcept {
  if (outputs_ <= wide_rows_max) return inputs_;
  return std::max(turn_inputs_min, turn_bytes / (cells * wide_cell_bytes));
}

void WideMatrixRunner::run(const Batch& batch) const {
  const Geometry& geometry = batch.geometry;
  const std::size_t whole = geometry.unit_bytes / wide_unit_bytes;  // cells per group
  const WideColumns columns(geometry);
  for (std::size_t index = 0; index < batch.stripe_count; ++index) {
    const Stripe stripe{.inputs = batch.inputs + index * inputs_,
                        .outputs = batch.outputs + index * outputs_,
                        .accumulate = batch.accumulate};
    if (geometry.unit_bytes == wide_unit_bytes) {
      if (columns.count() == 0) continue;
      run_whole(
          stripe,
          {.first = columns[0], .step = geometry.group_stride, .count = geometry.group_count});
      continue;
    }
    const std::size_t per_group = divide_up(geometry.unit_bytes, wide_unit_bytes);
    for (std::size_t group = 0; group < geometry.group_count; ++group) {
      if (whole > 0) {
        run_whole(stripe,
                  {.first = columns[group * per_group], .step = wide_unit_bytes, .count = whole});
      }
      if (whole < per_group) run_short(stripe, columns[group * per_group + whole]);
    }
  }
}

void WideMatrixRunner::run_whole(const Stripe& stripe, const Run& cells) const {
  // A few cells at a time, so that a turn has many inputs.
  constexpr std::size_t cells_max = 8;
  for (std::size_t cell = 0; cell < cells.count; cell += cells_max) {
    const std::size_t count = std::min(cells_max, cells.count - cell);
    const std::size_t turn = turn_inputs(count);
    std::size_t begin = 0;
    do {
      const std::size_t end = std::min(inputs_, begin + turn);
      for_each_pass([&](std::size_t row, std::size_t rows) {
        const WideMatrixPart part{
            .tables = products_->data(),
            .coefficients = coefficients_.data() + row * inputs_ + begin * rows,
            .input_count = end - begin,
            .cell_step = cells.step,
            .count = count,
            .begin = cells.first.begin + cell * cells.step,
            .high = cells.first.high,
            .adds = stripe.accumulate || begin > 0};
        kernels_->wide.products[rows](part, stripe.inputs + begin, stripe.outputs + row);
      });
      begin = end;
    } while (begin < inputs_);
  }
}

void WideMatrixRunner::run_short(const Stripe& stripe, const WideColumn& column) const {
  alignas(wide_unit_bytes) std::array<std::byte, staged_inputs_max * wide_cell_bytes> staged;
  std::array<const std::byte*, staged_inputs_max> inputs;
  alignas(wide_unit_bytes) std::array<std::byte, wide_rows_max * wide_cell_bytes> sums;
  std::array<std::byte*, wide_rows_max> outputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    inputs[i] = staged.data() + i * wide_cell_bytes;
  for (std::size_t r = 0; r < outputs.size(); ++r)
    outputs[r] = sums.data() + r * wide_cell_bytes;
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(inputs_, begin + staged_inputs_max);
    for (std::size_t i = begin; i < end; ++i)
      copy_to_cell(stripe.inputs[i], column, staged.data() + (i - begin) * wide_cell_bytes);
    const bool adds = stripe.accumulate || begin > 0;
    for_each_pass([&](std::size_t row, std::size_t rows) {
      for (std::size_t r = 0; adds && r < rows; ++r)
        copy_to_cell(stripe.outputs[row + r], column, outputs[r]);
      const WideMatrixPart part{.tables = products_->data(),
                                .coefficients = coefficients_.data() + row * inputs_ + begin * rows,
                                .input_count = end - begin,
                                .count = 1,
                                .adds = adds};
      kernels_->wide.products[rows](part, inputs.data(), outputs.data());
      for (std::size_t r = 0; r < rows; ++r)
        copy_from_cell(outputs[r], column, stripe.outputs[row + r]);
    });
    begin = end;
  } while (begin < inputs_);
}

}  // namespace calpe::backend::cpu
