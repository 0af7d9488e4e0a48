// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu_kernel.hpp"

#include <algorithm>
#include <utility>

namespace calpe::backend::cpu {

namespace {

void run_directly(const void* state, const std::byte* const* inputs, std::byte* const* outputs,
                  std::size_t shard_bytes) {
  const auto& call = *static_cast<const MatrixRunner::SingleCall*>(state);
  call.kernel(call.part, inputs, outputs, 0, shard_bytes);
}

bool compare_directly(const void* state, const std::byte* const* inputs,
                      const std::byte* const* outputs, std::size_t begin, std::size_t end) {
  const auto& comparison = *static_cast<const MatrixRunner::Comparison*>(state);
  return comparison.kernel(comparison.part, inputs, outputs, begin, end);
}

// A transform first arranges its inputs, in the time that a matrix takes for so many products of
// one byte (measured with AVX-512 and GFNI). Shorter shards are multiplied by the matrix.
constexpr std::size_t transform_start_products = 18'432;
constexpr std::size_t transform_finish_products = 49'152;  // with a matrix or a locator at the end
constexpr std::size_t matrix_products_max = 100;           // more per byte: the transform wins
constexpr std::size_t matrix_bytes_least = 64;             // a matrix for less is not worth making

}  // namespace

std::size_t matrix_bytes_max(const ir::Transform& transform) noexcept {
  const std::size_t products = transform.places.size() * transform.outputs();
  if (products == 0 || !transform.rows) return 0;
  const bool decodes = transform.finish || transform.locator;
  if (!decodes && products > matrix_products_max) return 0;
  const std::size_t start = decodes ? transform_finish_products : transform_start_products;
  return start / products < matrix_bytes_least ? 0 : start / products;
}

CpuKernel::CpuKernel(XorRunner runner) : runner_(std::move(runner)) {}
CpuKernel::CpuKernel(TransformRunner runner) : runner_(std::move(runner)) {}
CpuKernel::CpuKernel(WideMatrixRunner runner) : runner_(std::move(runner)) {}
CpuKernel::CpuKernel(WideTransformRunner runner) : runner_(std::move(runner)) {}
CpuKernel::CpuKernel(MatrixRunner runner) : runner_(std::move(runner)) {
  const auto& matrix = std::get<MatrixRunner>(runner_);
  find_direct(matrix);
  comparison_ = matrix.comparison();
}
CpuKernel::CpuKernel(TransformRunner runner, MatrixRunner matrix, std::size_t matrix_bytes)
    : runner_(std::move(runner)), matrix_(std::move(matrix)), matrix_bytes_(matrix_bytes) {
  find_direct(*matrix_);
  overwriting_.bytes_max = std::min(overwriting_.bytes_max, matrix_bytes);
  adding_.bytes_max = std::min(adding_.bytes_max, matrix_bytes);
}

void CpuKernel::find_direct(const MatrixRunner& matrix) noexcept {
  overwriting_ = matrix.single_call(false);
  adding_ = matrix.single_call(true);
}

DirectCall CpuKernel::direct_call(bool accumulate) const noexcept {
  const MatrixRunner::SingleCall& call = accumulate ? adding_ : overwriting_;
  if (call.kernel == nullptr) return {};
  return {.run = &run_directly, .state = &call, .bytes_max = call.bytes_max};
}

CompareCall CpuKernel::compare_call() const noexcept {
  if (comparison_.kernel == nullptr) return {};
  return {.run = &compare_directly, .state = &comparison_};
}

}  // namespace calpe::backend::cpu
