// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/matrix_runner.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "backend/streaming.hpp"
#include "base/assert.hpp"
#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/uninitialised.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"

namespace calpe::backend::cpu {

namespace {

// With several passes or turns, shared data is processed in pieces that stay in the L2 cache; 1 KiB
// to 8 KiB perform alike (docs/performance.md).
constexpr std::size_t column_block_bytes = 4096;

constexpr std::size_t small_stripe_bytes = 32768;
constexpr std::size_t change_bytes_max = 32768;   // longer ones may be worth several threads
constexpr std::size_t aligning_bytes_min = 8192;  // shard size; below, the second call costs more

// The L2 prefetcher follows 32 streams, and reading more inputs at once halves the speed for long
// shards. Wider codes process their inputs in turns that add to the outputs, which stay in L1.
constexpr std::size_t streams_max = 32;
constexpr std::size_t turn_inputs_max = 24;

// Number of leading inputs with coefficient 1, if all others have coefficient 0; otherwise 0.
template <class Coefficient>
std::size_t leading_ones(std::size_t inputs, const Coefficient& coefficient) {
  std::size_t ones = 0;
  while (ones < inputs && coefficient(ones) == 1)
    ++ones;
  for (std::size_t i = ones; i < inputs; ++i) {
    if (coefficient(i) != 0) return 0;
  }
  return ones;
}

// Writes the entries of rows [first_row, first_row + row_count), input by input; returns their end.
template <std::size_t EntryBytes>
std::byte* gather(const gf::Matrix& rows, std::size_t first_row, std::size_t row_count,
                  const std::byte* entries, std::byte* to) {
  for (std::size_t input = 0; input < rows.columns(); ++input) {
    for (std::size_t r = 0; r < row_count; ++r) {
      std::memcpy(to, entries + rows(first_row + r, input) * EntryBytes, EntryBytes);
      to += EntryBytes;
    }
  }
  return to;
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
  runner.shared_tables_ = cache.get(field);
  runner.owned_ =
      uninitialised_bytes(rows.rows() * rows.columns() * table_entry_bytes(kernels.table_kind));
  runner.prepare(rows, kernels, *runner.shared_tables_, runner.owned_.get());
  return runner;
}

MatrixRunner MatrixRunner::borrow(const CoefficientView& rows, const CpuKernels& kernels,
                                  const CoefficientTables& tables, std::span<std::byte> memory) {
  CALPE_ASSERT(rows.rows() * rows.columns() * table_entry_bytes(kernels.table_kind) <=
               memory.size());
  MatrixRunner runner;
  runner.prepare(rows, kernels, tables, memory.data());
  return runner;
}

template <class Rows>
void MatrixRunner::prepare(const Rows& rows, const CpuKernels& kernels,
                           const CoefficientTables& tables, std::byte* memory) {
  kernels_ = &kernels;
  tables_ = memory;
  inputs_ = rows.columns();
  outputs_ = rows.rows();
  inputs_per_turn_ = inputs_;
  if (inputs_ > streams_max)
    inputs_per_turn_ = divide_up(inputs_, divide_up(inputs_, turn_inputs_max));
  recognise_sum(rows);
  recognise_change(rows);
  choose_few();

  CALPE_ASSERT(kernels.rows_max > 0);
  pass_count_ = outputs_ == 0                  ? 0
                : outputs_ <= kernels.rows_max ? 1
                                               : divide_up(outputs_, kernels.rows_max);
  const bool is_short = table_entry_bytes(kernels.table_kind) == 8;
  for (std::size_t index = 0; index < pass_count_; ++index) {
    const Pass pass = this->pass(index);
    memory = is_short ? gather<8>(rows, pass.first_row, pass.row_count, tables.entries(), memory)
                      : gather<32>(rows, pass.first_row, pass.row_count, tables.entries(), memory);
  }
}

// A first parity that is the sum of all data costs no product. Neither does the first of several
// shards rebuilt with its help: the sum of all rows is 1 over the data and that parity and 0 over
// the other parities, so the first row is that sum plus the other rows.
template <class Rows>
void MatrixRunner::recognise_sum(const Rows& rows) {
  if (rows.rows() == 0) return;
  summed_ = leading_ones(inputs_, [&](std::size_t i) { return rows(0, i); });
  if (summed_ > 0 || rows.rows() == 1 || rows.rows() > kernels_->rows_max) return;
  summed_ = leading_ones(inputs_, [&](std::size_t i) {
    unsigned sum = 0;
    for (std::size_t r = 0; r < rows.rows(); ++r)
      sum ^= rows(r, i);
    return sum;
  });
  sum_takes_rows_ = summed_ > 0;
}

void MatrixRunner::choose_few() {
  if (inputs_ > few_inputs_max || outputs_ == 0 || outputs_ > few_products_max + 1) return;
  const std::size_t products = outputs_ - 1;
  if (summed_ == 0 || summed_ + (sum_takes_rows_ ? products : 0) != inputs_) return;
  few_ = kernels_->few[inputs_][products][sum_takes_rows_ ? 1 : 0];
}

template <class Rows>
void MatrixRunner::recognise_change(const Rows& rows) {
  is_change_ = rows.columns() == 1 || rows.columns() == 2;
  for (std::size_t r = 0; is_change_ && r < rows.rows(); ++r)
    is_change_ = is_change_ && rows(r, 0) == rows(r, inputs_ - 1);
}

MatrixRunner::SingleCall MatrixRunner::single_call(bool accumulate) const noexcept {
  if (accumulate && is_change_) {
    if (outputs_ == 0 || outputs_ > change_rows_max) return {};
    return {kernels_->change[inputs_][outputs_],
            {.tables = tables_, .input_count = inputs_},
            change_bytes_max};
  }
  if (pass_count_ != 1 || inputs_per_turn_ != inputs_) return {};
  const MatrixPart part{.tables = tables_,
                        .input_count = inputs_,
                        .summed = usable_sum(accumulate),
                        .sum_takes_rows = sum_takes_rows_};
  if (few_ != nullptr && !accumulate) {
    const std::size_t few_bytes = small_stripe_bytes / (inputs_ + outputs_);
    return {few_, part, std::min(few_bytes, aligning_bytes_min - 1)};
  }
  const MatrixKernels& variants =
      (part.summed > 0 ? kernels_->sum_and_products : kernels_->products)[outputs_];
  return {accumulate ? variants.add : variants.over, part, aligning_bytes_min - 1};
}

MatrixRunner::Comparison MatrixRunner::comparison() const noexcept {
  if (pass_count_ != 1 || outputs_ > compare_rows_max || inputs_per_turn_ != inputs_ ||
      inputs_ == 0 || sum_takes_rows_) {
    return {};
  }
  const MatrixPart part{.tables = tables_, .input_count = inputs_, .summed = summed_};
  if (few_ != nullptr) return {kernels_->compare_few[inputs_][outputs_ - 1], part};
  return {(summed_ > 0 ? kernels_->compare_sum : kernels_->compare)[outputs_], part};
}

void MatrixRunner::run(const Batch& batch) const {
  const Geometry& geometry = batch.geometry;
  const SingleCall call = single_call(batch.accumulate);
  if (call.kernel == nullptr || geometry.unit_bytes > call.bytes_max || geometry.group_count != 1 ||
      wants_streaming(batch, inputs_ + outputs_)) {
    return run_stripes(batch);
  }
  for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
    call.kernel(call.part, batch.inputs + stripe * inputs_, batch.outputs + stripe * outputs_,
                geometry.offset, geometry.offset + geometry.unit_bytes);
  }
}

void MatrixRunner::run_stripes(const Batch& batch) const {
  const Geometry& geometry = batch.geometry;
  const bool is_streaming = !batch.accumulate && inputs_per_turn_ == inputs_ &&
                            kernels_->fence != nullptr &&
                            wants_streaming(batch, inputs_ + outputs_);
  Columns columns{.accumulate = batch.accumulate};
  for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
    columns.inputs = batch.inputs + stripe * inputs_;
    columns.outputs = batch.outputs + stripe * outputs_;
    for (std::size_t group = 0; group < geometry.group_count; ++group) {
      columns.begin = geometry.offset + group * geometry.group_stride;
      columns.end = columns.begin + geometry.unit_bytes;
      if (is_streaming) {
        run_streaming(columns);
      } else if (batch.accumulate && is_change_) {
        run_change(columns);
      } else if (few_ != nullptr && !batch.accumulate && few_pays(columns)) {
        few_({.tables = tables_,
              .input_count = inputs_,
              .summed = summed_,
              .sum_takes_rows = sum_takes_rows_},
             columns.inputs, columns.outputs, columns.begin, columns.end);
      } else {
        run_aligning(columns);
      }
    }
  }
  if (is_streaming) kernels_->fence();
}

// Beyond L1, the kernels for few inputs gain nothing, and lose a third if vectors straddle lines.
bool MatrixRunner::few_pays(const Columns& columns) const {
  return (columns.end - columns.begin) * (inputs_ + outputs_) <= small_stripe_bytes ||
         bytes_to_alignment(std::span(columns.outputs, outputs_), columns.begin,
                            kernels_->vector_bytes) == 0;
}

// Processes a few rows at a time, over columns that stay in L1 for the next rows. A change of few
// rows takes one call.
void MatrixRunner::run_change(const Columns& columns) const {
  const std::size_t entry_bytes = table_entry_bytes(kernels_->table_kind);
  const std::size_t block_bytes =
      outputs_ <= change_rows_max ? columns.end - columns.begin : column_block_bytes;
  for (std::size_t begin = columns.begin; begin < columns.end; begin += block_bytes) {
    for (std::size_t index = 0; index < pass_count_; ++index) {
      const Pass pass = this->pass(index);
      for (std::size_t first = 0; first < pass.row_count; first += change_rows_max) {
        const std::size_t rows = std::min(change_rows_max, pass.row_count - first);
        kernels_->change[inputs_][rows](
            {.tables = pass.tables + first * entry_bytes, .input_count = inputs_}, columns.inputs,
            columns.outputs + pass.first_row + first, begin,
            begin + std::min(block_bytes, columns.end - begin));
      }
    }
  }
}

// Starts where the first output is aligned, so that its vectors do not straddle lines. For
// malloc'ed shards this is a quarter faster, whatever the alignment of the others.
void MatrixRunner::run_aligning(const Columns& columns) const {
  Columns part = columns;
  if (outputs_ > 0 && columns.end - columns.begin >= aligning_bytes_min) {
    const std::size_t head =
        bytes_to_alignment(std::span(columns.outputs, 1), columns.begin, kernels_->vector_bytes);
    if (head > 0) {
      part.end = part.begin + head;
      run_columns(part);
      part.begin = part.end;
      part.end = columns.end;
    }
  }
  run_columns(part);
}

void MatrixRunner::run_streaming(const Columns& columns) const {
  const std::size_t head = bytes_to_alignment(std::span(columns.outputs, outputs_), columns.begin,
                                              kernels_->vector_bytes);
  if (head >= columns.end - columns.begin) return run_aligning(columns);
  Columns part = columns;
  part.end = part.begin + head;
  if (head > 0) run_columns(part);
  part = columns;
  part.begin += head;
  part.streams = true;
  run_columns(part);
}

void MatrixRunner::run_columns(const Columns& columns) const {
  const std::size_t entry_bytes = table_entry_bytes(kernels_->table_kind);
  const bool in_one_go = pass_count_ == 1 && inputs_per_turn_ == inputs_;
  const std::size_t block_bytes = in_one_go ? columns.end - columns.begin : column_block_bytes;
  const std::size_t summed = usable_sum(columns.accumulate);
  for (std::size_t begin = columns.begin; begin < columns.end; begin += block_bytes) {
    const std::size_t end = begin + std::min(block_bytes, columns.end - begin);
    std::size_t first = 0;
    do {  // runs once even without inputs, to zero the outputs
      MatrixPart part{.input_count = std::min(inputs_per_turn_, inputs_ - first)};
      part.summed = std::min(summed - std::min(summed, first), part.input_count);
      const bool is_last = first + part.input_count == inputs_;
      part.sum_takes_rows = sum_takes_rows_ && is_last;
      for (std::size_t index = 0; index < pass_count_; ++index) {
        const Pass pass = this->pass(index);
        part.tables = pass.tables + first * pass.row_count * entry_bytes;
        const bool has_sum = summed > 0 && pass.first_row == 0;
        const MatrixKernels& variants =
            (has_sum ? kernels_->sum_and_products : kernels_->products)[pass.row_count];
        const bool adds = columns.accumulate || first != 0;
        (adds              ? variants.add
         : columns.streams ? variants.stream
                           : variants.over)(part, columns.inputs + first,
                                            columns.outputs + pass.first_row, begin, end);
      }
      first += part.input_count;
    } while (first < inputs_);
  }
}

}  // namespace calpe::backend::cpu
