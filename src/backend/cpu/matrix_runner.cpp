// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/matrix_runner.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"

namespace calpe::backend::cpu {

namespace {

// With several passes or turns, what they share is worked on in pieces that stay in the L2 cache;
// 1 KiB to 8 KiB measure alike (docs/performance.md).
constexpr std::size_t column_block_bytes = 4096;

// The L2 prefetcher follows 32 streams: reading more inputs side by side halves the speed of long
// shards. Wider codes take their inputs in turns, each adding to the outputs, which stay in L1.
constexpr std::size_t streams_max = 32;
constexpr std::size_t turn_inputs_max = 24;

std::size_t ceil_divide(std::size_t a, std::size_t b) {
  return (a + b - 1) / b;
}

}  // namespace

Result<MatrixRunner> MatrixRunner::create(const ir::Program& program, const CpuKernels& kernels,
                                          CoefficientTableCache& cache) {
  if (const Status sound = ir::verify(program); !sound) {
    return make_error(ErrorCode::compile_failed, sound.error().message);
  }
  return create(program.field(), ir::linear_map(program), kernels, cache);
}

Result<MatrixRunner> MatrixRunner::create(const gf::Field& field, const gf::Matrix& rows,
                                          const CpuKernels& kernels, CoefficientTableCache& cache) {
  if (field.word_bits() != 8) {
    return make_error(ErrorCode::compile_failed, "gf dialect needs w = 8, got ", field.word_bits());
  }
  MatrixRunner runner;
  runner.kernels_ = &kernels;
  runner.shared_tables_ = cache.get(field);
  runner.inputs_ = rows.columns();
  runner.outputs_ = rows.rows();
  const std::size_t turns =
      runner.inputs_ <= streams_max ? 1 : ceil_divide(runner.inputs_, turn_inputs_max);
  runner.inputs_per_turn_ = ceil_divide(runner.inputs_, turns);

  const std::size_t entry_bytes = table_entry_bytes(kernels.table_kind);
  runner.tables_ =
      std::make_unique_for_overwrite<std::byte[]>(rows.rows() * rows.columns() * entry_bytes);
  std::byte* next = runner.tables_.get();
  const std::size_t pass_count = ceil_divide(rows.rows(), kernels.rows_max);
  for (std::size_t pass = 0, first = 0; pass < pass_count; ++pass) {
    const std::size_t count = ceil_divide(rows.rows() - first, pass_count - pass);  // even passes
    runner.passes_.push_back({.first_row = first, .row_count = count, .tables = next});
    std::array<std::uint8_t, kernel_rows_max> coefficients;
    for (std::size_t input = 0; input < rows.columns(); ++input) {
      for (std::size_t r = 0; r < count; ++r) {
        coefficients[r] = static_cast<std::uint8_t>(rows(first + r, input));
      }
      runner.shared_tables_->gather(std::span(coefficients).first(count), next);
      next += count * entry_bytes;
    }
    first += count;
  }
  return runner;
}

void MatrixRunner::run(const Batch& batch) const {
  const Geometry& geometry = batch.geometry;
  for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
    for (std::size_t group = 0; group < geometry.group_count; ++group) {
      const std::size_t begin = geometry.offset + group * geometry.group_stride;
      run_columns(batch.inputs + stripe * inputs_, batch.outputs + stripe * outputs_, begin,
                  begin + geometry.unit_bytes, batch.accumulate);
    }
  }
}

void MatrixRunner::run_columns(const std::byte* const* inputs, std::byte* const* outputs,
                               std::size_t begin, std::size_t end, bool accumulate) const {
  const std::size_t entry_bytes = table_entry_bytes(kernels_->table_kind);
  const bool in_one_go = passes_.size() == 1 && inputs_per_turn_ == inputs_;
  const std::size_t block_bytes = in_one_go ? end - begin : column_block_bytes;
  for (std::size_t block = begin; block < end; block += block_bytes) {
    const std::size_t block_end = block + std::min(block_bytes, end - block);
    std::size_t first = 0;
    do {  // once also without inputs: outputs are then zero
      const std::size_t count = std::min(inputs_per_turn_, inputs_ - first);
      for (const Pass& pass : passes_) {
        const auto& variants = accumulate || first != 0 ? kernels_->accumulate : kernels_->multiply;
        variants[pass.row_count](inputs + first, count, outputs + pass.first_row,
                                 pass.tables + first * pass.row_count * entry_bytes, block,
                                 block_end);
      }
      first += count;
    } while (first < inputs_);
  }
}

}  // namespace calpe::backend::cpu
