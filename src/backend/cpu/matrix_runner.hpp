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

  MatrixRunner() = default;
  void run_columns(const std::byte* const* inputs, std::byte* const* outputs, std::size_t begin,
                   std::size_t end, bool accumulate) const;

  const CpuKernels* kernels_ = nullptr;
  CoefficientTablesRef shared_tables_;  // rows that tables_ points to
  std::unique_ptr<std::byte[]> tables_;
  std::vector<Pass> passes_;
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  std::size_t inputs_per_turn_ = 0;
};

}  // namespace calpe::backend::cpu
