// SPDX-License-Identifier: Apache-2.0
// Runs a gf program as what it is, a matrix of coefficients: rows in passes, columns in blocks.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <calpe/result.hpp>

#include "backend/backend.hpp"
#include "backend/cpu/coefficient_tables.hpp"
#include "backend/cpu/cpu_kernels.hpp"
#include "gf/matrix.hpp"
#include "ir/program.hpp"

namespace calpe::backend::cpu {

// Immutable; run() allocates nothing and may be called by many threads.
class MatrixRunner {
 public:
  // Fails with compile_failed when the program is unsound or w is not 8. Shared values are
  // multiplied out.
  static Result<MatrixRunner> create(const ir::Program& program, const CpuKernels& kernels,
                                     CoefficientTableCache& cache);
  // The same for the matrix itself, at a nanosecond or two per coefficient: what a plan costs.
  static Result<MatrixRunner> create(const gf::Field& field, const gf::Matrix& rows,
                                     const CpuKernels& kernels, CoefficientTableCache& cache);

  void run(const Batch& batch) const;

 private:
  struct Pass {  // rows that one kernel computes together
    std::size_t first_row = 0;
    std::size_t row_count = 0;
    const std::byte* tables = nullptr;
  };
  // Rows are split evenly over the passes.
  Pass pass(std::size_t index) const noexcept {
    const std::size_t first = index * outputs_ / pass_count_;
    const std::size_t end = (index + 1) * outputs_ / pass_count_;
    return {first, end - first,
            tables_.get() + first * inputs_ * table_entry_bytes(kernels_->table_kind)};
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
  void recognise_sum(const gf::Matrix& rows);
  void recognise_change(const gf::Matrix& rows);
  void choose_few();
  void run_change(const Columns& columns) const;
  void run_streaming(const Columns& columns) const;
  void run_columns(const Columns& columns) const;

  const CpuKernels* kernels_ = nullptr;
  CoefficientTablesRef shared_tables_;  // rows that tables_ points to
  std::unique_ptr<std::byte[]> tables_;
  std::size_t pass_count_ = 0;
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  std::size_t inputs_per_turn_ = 0;
  std::size_t summed_ = 0;       // the first row is the sum of so many first inputs; 0: it is not
  bool sum_takes_rows_ = false;  // and of all other rows
  bool is_change_ = false;       // one input, or two that count as their sum
  MatrixKernel few_ = nullptr;   // the kernel for exactly these inputs and rows, if there is one
};

}  // namespace calpe::backend::cpu
