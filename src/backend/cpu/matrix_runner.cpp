// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/matrix_runner.hpp"

#include <algorithm>
#include <optional>

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

// The coefficients in the order of the kernels' tables: pass by pass, input by input, row by row.
class CoefficientOrder {
 public:
  CoefficientOrder(std::size_t rows, std::size_t inputs, std::size_t rows_max)
      : inputs_(inputs), row_bases_(rows), row_strides_(rows), coefficients_(rows * inputs) {
    const std::size_t pass_count = ceil_divide(rows, rows_max);
    for (std::size_t pass = 0, first = 0; pass < pass_count; ++pass) {
      const std::size_t count = ceil_divide(rows - first, pass_count - pass);  // even passes
      pass_rows_.push_back(count);
      for (std::size_t r = 0; r < count; ++r) {
        row_bases_[first + r] = first * inputs + r;
        row_strides_[first + r] = count;
      }
      first += count;
    }
  }

  void add(std::size_t row, std::size_t input, gf::Element c) {
    coefficients_[row_bases_[row] + input * row_strides_[row]] ^= static_cast<std::uint8_t>(c);
  }

  std::span<const std::size_t> pass_rows() const { return pass_rows_; }
  std::span<const std::uint8_t> coefficients() const { return coefficients_; }
  std::size_t inputs() const { return inputs_; }

 private:
  std::size_t inputs_;
  std::vector<std::size_t> pass_rows_;
  std::vector<std::size_t> row_bases_;
  std::vector<std::size_t> row_strides_;
  std::vector<std::uint8_t> coefficients_;
};

// True when every output is defined once and reads nothing but inputs, which is what a plan makes;
// then `order` holds the whole program. Looks at each term once.
bool add_sums_of_inputs(const ir::Program& program, CoefficientOrder& order) {
  std::vector<bool> defined(program.outputs());
  if (program.temporaries() != 0 || program.instructions().size() != program.outputs()) {
    return false;
  }
  for (const ir::Instruction& instruction : program.instructions()) {
    const std::size_t end = std::size_t{instruction.first_term} + instruction.term_count;
    if (!program.is_output(instruction.target) || end > program.terms().size()) return false;
    const std::size_t row = instruction.target - program.inputs();
    if (defined[row]) return false;
    defined[row] = true;
    for (const ir::Term& term : program.terms(instruction)) {
      if (!program.is_input(term.value) || term.coefficient == 0 || term.coefficient > 255) {
        return false;
      }
      order.add(row, term.value, term.coefficient);
    }
  }
  return true;
}

Result<CoefficientOrder> collect(const ir::Program& program, std::size_t rows_max) {
  CoefficientOrder order(program.outputs(), program.inputs(), rows_max);
  if (add_sums_of_inputs(program, order)) return order;
  if (const Status sound = ir::verify(program); !sound) {
    return make_error(ErrorCode::compile_failed, sound.error().message);
  }
  order = CoefficientOrder(program.outputs(), program.inputs(), rows_max);
  const gf::Matrix map = ir::linear_map(program);
  for (std::size_t row = 0; row < map.rows(); ++row) {
    for (std::size_t input = 0; input < map.columns(); ++input) {
      order.add(row, input, map(row, input));
    }
  }
  return order;
}

}  // namespace

Result<MatrixRunner> MatrixRunner::create(const ir::Program& program, const CpuKernels& kernels,
                                          CoefficientTableCache& cache) {
  if (program.field().word_bits() != 8) {
    return make_error(ErrorCode::compile_failed, "gf dialect needs w = 8, got ",
                      program.field().word_bits());
  }
  const Result<CoefficientOrder> order = collect(program, kernels.rows_max);
  if (!order) return order.error();

  MatrixRunner runner;
  runner.kernels_ = &kernels;
  runner.shared_tables_ = cache.get(program.field());
  runner.inputs_ = program.inputs();
  runner.outputs_ = program.outputs();
  const std::size_t turns =
      runner.inputs_ <= streams_max ? 1 : ceil_divide(runner.inputs_, turn_inputs_max);
  runner.inputs_per_turn_ = ceil_divide(runner.inputs_, turns);

  const std::size_t entry_bytes = table_entry_bytes(kernels.table_kind);
  runner.tables_ =
      std::make_unique_for_overwrite<std::byte[]>(order->coefficients().size() * entry_bytes);
  runner.shared_tables_->gather(order->coefficients(), runner.tables_.get());
  std::size_t first_row = 0;
  for (const std::size_t row_count : order->pass_rows()) {
    runner.passes_.push_back(
        {.first_row = first_row,
         .row_count = row_count,
         .tables = runner.tables_.get() + first_row * runner.inputs_ * entry_bytes});
    first_row += row_count;
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
