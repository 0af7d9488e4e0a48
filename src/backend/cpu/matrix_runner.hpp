// SPDX-License-Identifier: Apache-2.0
// Runs a gf program as a matrix of coefficients: rows in passes, columns in blocks.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/cpu/coefficient_tables.hpp"
#include "backend/cpu/coefficient_view.hpp"
#include "backend/cpu/cpu_kernels.hpp"
#include "gf/matrix.hpp"
#include "ir/program.hpp"

namespace calpe::backend::cpu {

// Immutable. run() does not allocate and is thread-safe.
class MatrixRunner {
 public:
  // Fails with compile_failed if the program is unsound or w is not 8. Shared values are multiplied
  // out.
  static Result<MatrixRunner> create(const ir::Program& program, const CpuKernels& kernels,
                                     CoefficientTableCache& cache);
  // The same from a matrix, at 1 to 2 ns per coefficient; this is the cost of a plan.
  static Result<MatrixRunner> create(const gf::Field& field, const gf::Matrix& rows,
                                     const CpuKernels& kernels, CoefficientTableCache& cache);
  // The same without allocation, for one use. `memory` holds one entry per coefficient. It and
  // `tables`, of the kernels' kind, must outlive the runner.
  static MatrixRunner borrow(const CoefficientView& rows, const CpuKernels& kernels,
                             const CoefficientTables& tables, std::span<std::byte> memory);

  void run(const Batch& batch) const;

  // The kernel that computes shards of at most bytes_max in one call; null if it takes several.
  // Valid as long as the runner.
  struct SingleCall {
    MatrixKernel kernel = nullptr;
    MatrixPart part = {};
    std::size_t bytes_max = 0;
  };
  SingleCall single_call(bool accumulate) const noexcept;

  // The kernel that compares outputs with those that run() would write; null if there is none.
  struct Comparison {
    CompareKernel kernel = nullptr;
    MatrixPart part = {};
  };
  Comparison comparison() const noexcept;

 private:
  struct Pass {  // rows that one kernel computes together
    std::size_t first_row = 0;
    std::size_t row_count = 0;
    const std::byte* tables = nullptr;
  };
  // Splits rows evenly over the passes. Skips the division for one pass, because it would be
  // significant for a small shard.
  Pass pass(std::size_t index) const noexcept {
    if (pass_count_ == 1) return {0, outputs_, tables_};
    const std::size_t first = index * outputs_ / pass_count_;
    const std::size_t end = (index + 1) * outputs_ / pass_count_;
    return {first, end - first,
            tables_ + first * inputs_ * table_entry_bytes(kernels_->table_kind)};
  }

  struct Columns {  // of one stripe
    const std::byte* const* inputs = nullptr;
    std::byte* const* outputs = nullptr;
    std::size_t begin = 0;
    std::size_t end = 0;
    bool accumulate = false;
    bool streams = false;  // outputs are aligned at `begin`
  };

  MatrixRunner() = default;
  // Works for gf::Matrix and CoefficientView.
  template <class Rows>
  void prepare(const Rows& rows, const CpuKernels& kernels, const CoefficientTables& tables,
               std::byte* memory);
  template <class Rows>
  void recognise_sum(const Rows& rows);
  template <class Rows>
  void recognise_change(const Rows& rows);
  void choose_few();
  // The number of inputs that the first row sums. The sum of the rows is unavailable if they
  // already hold data.
  std::size_t usable_sum(bool accumulate) const noexcept {
    return sum_takes_rows_ && accumulate ? 0 : summed_;
  }
  void run_stripes(const Batch& batch) const;
  bool few_pays(const Columns& columns) const;
  void run_aligning(const Columns& columns) const;
  void run_change(const Columns& columns) const;
  void run_streaming(const Columns& columns) const;
  void run_columns(const Columns& columns) const;

  const CpuKernels* kernels_ = nullptr;
  CoefficientTablesRef shared_tables_;  // rows that tables_ points to
  std::unique_ptr<std::byte[]> owned_;  // empty if the tables are borrowed
  const std::byte* tables_ = nullptr;
  std::size_t pass_count_ = 0;
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  std::size_t inputs_per_turn_ = 0;
  std::size_t summed_ = 0;       // the first row sums this many leading inputs; 0: no sum
  bool sum_takes_rows_ = false;  // and of all other rows
  bool is_change_ = false;       // one input, or two that count as their sum
  MatrixKernel few_ = nullptr;   // kernel for exactly these inputs and rows, or null
};

}  // namespace calpe::backend::cpu
