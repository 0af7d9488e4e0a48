// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu_device.hpp"

#include <string>
#include <utility>

#include "backend/cpu/coefficient_tables.hpp"
#include "backend/cpu/cpu_kernel.hpp"
#include "backend/cpu/cpu_kernels.hpp"
#include "backend/cpu/path_choice.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"

namespace calpe::backend::cpu {

namespace {

template <class Runner>
Result<KernelRef> make_kernel(Result<Runner> runner) {
  if (!runner) return std::move(runner).error();
  return KernelRef(std::make_shared<CpuKernel>(*std::move(runner)));
}

bool is_wide(const gf::Field& field) {
  return field.word_bits() == 16;
}

class CpuDevice : public Device {
 public:
  explicit CpuDevice(const CpuKernels& kernels)
      : kernels_(kernels),
        name_(text("cpu:", kernels.name)),
        cost_model_{.registers = kernels.registers,
                    .vector_bytes = kernels.vector_bytes,
                    .cache_bytes = 32 * 1024,
                    .three_input_xor = kernels.three_input_xor},
        tables_(kernels.table_kind),
        wide_tables_(kernels.table_kind) {}

  std::string_view name() const override { return name_; }
  const ir::CostModel& cost_model() const override { return cost_model_; }
  bool codes_wide_symbols() const override { return true; }
  const CpuKernels* cpu_kernels() const override { return &kernels_; }

  Result<KernelRef> compile(const ir::Program& program) override {
    if (program.dialect() == ir::Dialect::gf && is_wide(program.field())) {
      if (const Status sound = ir::verify(program); !sound) {
        return make_error(ErrorCode::compile_failed, sound.error().message);
      }
      return make_kernel(WideMatrixRunner::create(program.field(), ir::linear_map(program),
                                                  kernels_, wide_tables_));
    }
    if (program.dialect() == ir::Dialect::gf) {
      return make_kernel(MatrixRunner::create(program, kernels_, tables_));
    }
    return make_kernel(XorRunner::create(program, kernels_));
  }

  Result<KernelRef> compile_matrix(const gf::FieldRef& field, const gf::Matrix& rows) override {
    if (is_wide(*field)) {
      return make_kernel(WideMatrixRunner::create(*field, rows, kernels_, wide_tables_));
    }
    return make_kernel(MatrixRunner::create(*field, rows, kernels_, tables_));
  }

  Result<KernelRef> compile_transform(const ir::Transform& transform) override {
    if (is_wide(*transform.field) && WideTransformRunner::has_kernels(transform)) {
      return make_kernel(
          WideTransformRunner::create(transform, kernels_, wide_tables_, wide_scratch_));
    }
    if (!TransformRunner::has_kernels(transform)) return compile(ir::expand(transform));
    const std::size_t matrix_bytes = matrix_bytes_max(transform);
    if (matrix_bytes == 0) {
      return make_kernel(TransformRunner::create(transform, kernels_, tables_));
    }
    CALPE_TRY(auto runner, TransformRunner::create(transform, kernels_, tables_));
    CALPE_TRY(auto matrix,
              MatrixRunner::create(*transform.field, *transform.rows, kernels_, tables_));
    return KernelRef(
        std::make_shared<CpuKernel>(std::move(runner), std::move(matrix), matrix_bytes));
  }

  Completion submit(const Kernel& kernel, const Batch& batch) override {
    return run(kernel, batch);
  }

  Status run(const Kernel& kernel, const Batch& batch) override {
    static_cast<const CpuKernel&>(kernel).run(batch);
    return Done{};
  }

  DirectCall direct_call(const Kernel& kernel, bool accumulate) override {
    return static_cast<const CpuKernel&>(kernel).direct_call(accumulate);
  }

  CompareCall compare_call(const Kernel& kernel) override {
    return static_cast<const CpuKernel&>(kernel).compare_call();
  }

 private:
  const CpuKernels& kernels_;
  std::string name_;
  ir::CostModel cost_model_;
  CoefficientTableCache tables_;
  WideTableCache wide_tables_;
  const std::shared_ptr<WideScratchPool> wide_scratch_ = std::make_shared<WideScratchPool>();
};

}  // namespace

Result<std::unique_ptr<Device>> open_cpu(std::string_view variant) {
  const Result<const CpuKernels*> kernels =
      variant.empty() ? choose_kernels() : find_kernels(variant);
  if (!kernels) return kernels.error();
  return std::unique_ptr<Device>(std::make_unique<CpuDevice>(**kernels));
}

}  // namespace calpe::backend::cpu
