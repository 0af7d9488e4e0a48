// SPDX-License-Identifier: Apache-2.0
// The compiled form of a plan on the CPU: a matrix, an additive FFT or an XOR program.
#pragma once
#include <cstddef>
#include <optional>
#include <variant>

#include "backend/backend.hpp"
#include "backend/cpu/matrix_runner.hpp"
#include "backend/cpu/transform_runner.hpp"
#include "backend/cpu/wide_matrix_runner.hpp"
#include "backend/cpu/wide_transform_runner.hpp"
#include "backend/cpu/xor_runner.hpp"

namespace calpe::backend::cpu {

// Returns the longest shards that the matrix of `transform` codes faster than the transform, or 0.
std::size_t matrix_bytes_max(const ir::Transform& transform) noexcept;

class CpuKernel : public Kernel {
 public:
  explicit CpuKernel(XorRunner runner);
  explicit CpuKernel(MatrixRunner runner);
  explicit CpuKernel(TransformRunner runner);
  explicit CpuKernel(WideMatrixRunner runner);
  explicit CpuKernel(WideTransformRunner runner);
  // `matrix` codes shards of at most `matrix_bytes`.
  CpuKernel(TransformRunner runner, MatrixRunner matrix, std::size_t matrix_bytes);

  void run(const Batch& batch) const {
    if (matrix_ && batch.geometry.unit_bytes <= matrix_bytes_) return matrix_->run(batch);
    std::visit([&](const auto& runner) { runner.run(batch); }, runner_);
  }

  DirectCall direct_call(bool accumulate) const noexcept;
  CompareCall compare_call() const noexcept;

 private:
  void find_direct(const MatrixRunner& matrix) noexcept;

  std::variant<MatrixRunner, TransformRunner, XorRunner, WideMatrixRunner, WideTransformRunner>
      runner_;
  std::optional<MatrixRunner> matrix_;  // of a transform, for short shards
  std::size_t matrix_bytes_ = 0;
  MatrixRunner::SingleCall overwriting_;
  MatrixRunner::SingleCall adding_;
  MatrixRunner::Comparison comparison_;
};

}  // namespace calpe::backend::cpu
