// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu_device.hpp"

#include <string>
#include <utility>
#include <variant>

#include "backend/cpu/coefficient_tables.hpp"
#include "backend/cpu/cpu_kernels.hpp"
#include "backend/cpu/matrix_runner.hpp"
#include "backend/cpu/path_choice.hpp"
#include "backend/cpu/transform_runner.hpp"
#include "backend/cpu/xor_runner.hpp"
#include "base/text.hpp"

namespace calpe::backend::cpu {

namespace {

class CpuKernel : public Kernel {
 public:
  template <class Runner>
  explicit CpuKernel(Runner runner) : runner_(std::move(runner)) {}
  void run(const Batch& batch) const {
    std::visit([&](const auto& runner) { runner.run(batch); }, runner_);
  }

 private:
  std::variant<MatrixRunner, TransformRunner, XorRunner> runner_;
};

template <class Runner>
Result<KernelRef> make_kernel(Result<Runner> runner) {
  if (!runner) return std::move(runner).error();
  return KernelRef(std::make_shared<CpuKernel>(*std::move(runner)));
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
        tables_(kernels.table_kind) {}

  std::string_view name() const override { return name_; }
  const ir::CostModel& cost_model() const override { return cost_model_; }

  Result<KernelRef> compile(const ir::Program& program) override {
    if (program.dialect() == ir::Dialect::gf) {
      return make_kernel(MatrixRunner::create(program, kernels_, tables_));
    }
    return make_kernel(XorRunner::create(program, kernels_));
  }

  Result<KernelRef> compile_matrix(const gf::FieldRef& field, const gf::Matrix& rows) override {
    return make_kernel(MatrixRunner::create(*field, rows, kernels_, tables_));
  }

  Result<KernelRef> compile_transform(const ir::Transform& transform) override {
    if (!TransformRunner::has_kernels(transform)) return compile(ir::expand(transform));
    return make_kernel(TransformRunner::create(transform, kernels_, tables_));
  }

  Completion submit(const Kernel& kernel, const Batch& batch) override {
    return run(kernel, batch);
  }

  Status run(const Kernel& kernel, const Batch& batch) override {
    static_cast<const CpuKernel&>(kernel).run(batch);
    return Done{};
  }

 private:
  const CpuKernels& kernels_;
  std::string name_;
  ir::CostModel cost_model_;
  CoefficientTableCache tables_;
};

}  // namespace

Result<std::unique_ptr<Device>> open_cpu(std::string_view variant) {
  const Result<const CpuKernels*> kernels =
      variant.empty() ? choose_kernels() : find_kernels(variant);
  if (!kernels) return kernels.error();
  return std::unique_ptr<Device>(std::make_unique<CpuDevice>(**kernels));
}

}  // namespace calpe::backend::cpu
