// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/gpu_device.hpp"

#include <map>
#include <mutex>

#include "backend/gpu/core.hpp"
#include "backend/gpu/gpu_kernel.hpp"
#include "backend/gpu/job.hpp"
#include "backend/gpu/lost_work.hpp"
#include "backend/gpu/queued_job.hpp"
#include "backend/gpu/tuning.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "ir/linear_map.hpp"
#include "ir/verify.hpp"

namespace calpe::backend::gpu {

namespace {

// Report so many registers that the engine leaves programs unchanged; they are optimised in the
// background.
ir::CostModel cost_model_of(const Core& core) {
  return {.values_in_registers = true,
          .registers = 128,
          .vector_bytes = core.tuning.word_bytes,
          .three_input_xor = true};
}

class GpuDevice : public Device {
 public:
  explicit GpuDevice(std::shared_ptr<Core> core)
      : core_(std::move(core)), cost_model_(cost_model_of(*core_)), queues_(*core_) {
    core_->users.fetch_add(1);
  }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;
  // End the builder first: a compiler must not run on destroyed objects when the process ends.
  ~GpuDevice() override {
    if (core_->users.fetch_sub(1) == 1) core_->builder.stop();
  }

  std::string_view name() const override { return core_->info().name; }
  const ir::CostModel& cost_model() const override { return cost_model_; }
  bool runs_on_caller() const override { return false; }
  bool is_trusted() const override { return false; }
  bool may_still_write() const override {
    return core_->may_still_write.load(std::memory_order_acquire);
  }
  DeviceMemory* memory() override { return &core_->memory; }
  CallerQueues* caller_queues() override {
    return core_->info().takes_caller_queues ? &queues_ : nullptr;
  }

  Result<KernelRef> compile(const ir::Program& program) override {
    if (const Status sound = ir::verify(program); !sound) {
      return make_error(ErrorCode::compile_failed, sound.error().message);
    }
    if (program.dialect() == ir::Dialect::gf) {
      return compile_matrix(program.field_ref(), ir::linear_map(program));
    }
    return finish({.shape = {.input_shards = program.input_shards(),
                             .output_shards = program.output_shards(),
                             .unit_count = program.unit_count()},
                   .style = emit::TableStyle::units,
                   .program = program});
  }

  Result<KernelRef> compile_matrix(const gf::FieldRef& field, const gf::Matrix& rows) override {
    if (field->word_bits() != 8) {
      return make_error(ErrorCode::compile_failed, "gf program has symbols of ", field->word_bits(),
                        " bits; expected 8");
    }
    return finish({.shape = {.input_shards = static_cast<std::uint32_t>(rows.columns()),
                             .output_shards = static_cast<std::uint32_t>(rows.rows())},
                   .style = emit::TableStyle::planes,
                   .reduction = field->polynomial() & 0xFFU,
                   .field = field,
                   .rows = rows});
  }

  Completion submit(const Kernel& kernel, const Batch& batch) override {
    return gpu::submit(*core_, static_cast<const GpuKernel&>(kernel), batch, nullptr);
  }

  Profile profile() const override {
    Counters& counters = core_->counters;
    const std::lock_guard lock(counters.mutex);
    return {.builds = counters.builds.load(),
            .launches = counters.launches.load(),
            .copy_in_bytes = counters.copy_in_bytes.load(),
            .copy_out_bytes = counters.copy_out_bytes.load(),
            .build_seconds = counters.build_seconds,
            .copy_in_seconds = counters.phases.copy_in,
            .kernel_seconds = counters.phases.kernel,
            .copy_out_seconds = counters.phases.copy_out};
  }

  Core& core() noexcept { return *core_; }

 private:
  Result<KernelRef> finish(Task task) {
    CALPE_TRY(std::shared_ptr<GpuKernel> kernel, GpuKernel::make(core_, std::move(task)));
    // If strides are compiled in, the first run determines them.
    const bool is_known =
        core_->info().shares_memory || kernel->task().style == emit::TableStyle::planes;
    if (is_known && kernel->task().shape.output_shards != 0) {
      static_cast<void>(kernel->variant({}));
    }
    return KernelRef(std::move(kernel));
  }

  std::shared_ptr<Core> core_;
  ir::CostModel cost_model_;
  QueuedJobs queues_;
};

Result<std::shared_ptr<Core>> open_core(
    const GpuOptions& options, const std::function<Result<std::unique_ptr<Driver>>()>& open) {
  wait_for_lost_work();
  CALPE_TRY(std::unique_ptr<Driver> driver, open());
  // Keep a lost device: its driver may wait for hung work before it frees anything.
  const std::shared_ptr<Core> core(new Core(std::move(driver), options), [](Core* ended) {
    std::unique_ptr<Core> owned(ended);
    if (ended->is_lost.load(std::memory_order_acquire)) keep_for_good(std::move(owned));
  });
  CALPE_TRY(core->cpu, open_device("cpu"));
  CALPE_TRY(core->disk, kernel::DiskCache::open(options.cache));
  CALPE_TRY(core->tuning, find_tuning(*core));
  return core;
}

}  // namespace

Result<std::unique_ptr<Device>> open_gpu_device(
    const std::string& key, const GpuOptions& options,
    const std::function<Result<std::unique_ptr<Driver>>()>& open) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Core>> cores;
  const std::string full_key =
      text(key, "\n", options.time_limit.count(), "\n", options.compile_limit.count(), "\n",
           options.cache.folder, "\n", options.waits, options.profiling, options.table_only,
           options.tunes, "\n", options.slot_bytes);
  const std::lock_guard lock(mutex);
  std::shared_ptr<Core> core = cores[full_key].lock();
  // A lost device is not shared; opening it again creates a new context.
  if (!core || core->mark.is_inherited() || core->is_lost.load(std::memory_order_acquire)) {
    CALPE_TRY(core, open_core(options, open));
    cores[full_key] = core;
  }
  return std::unique_ptr<Device>(std::make_unique<GpuDevice>(std::move(core)));
}

KernelReport settle(Device& device, const Kernel& kernel) {
  static_cast<GpuDevice&>(device).core().builder.wait_idle();
  const auto& own = static_cast<const GpuKernel&>(kernel);
  std::vector<std::size_t> words = own.ready_words();
  const std::size_t count = words.size();
  return {.ready_variants = count, .failures = own.failures(), .word_bytes = std::move(words)};
}

}  // namespace calpe::backend::gpu
