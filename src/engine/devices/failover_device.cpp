// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/failover_device.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "backend/cpu/tagger.hpp"
#include "base/allocation_guard.hpp"
#include "base/leak_on_purpose.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "engine/devices/sample_check.hpp"
#include "engine/devices/saved_outputs.hpp"
#include "engine/run/device_copy.hpp"
#include "engine/run/inherited_memory.hpp"

namespace calpe::engine {

using backend::Batch;
using backend::Completion;
using backend::Kernel;
using backend::KernelRef;

class FailoverDevice::FailoverKernel : public Kernel {
 public:
  FailoverKernel() = default;
  FailoverKernel(const FailoverKernel&) = delete;
  FailoverKernel& operator=(const FailoverKernel&) = delete;
  ~FailoverKernel() override {
    if (mark.is_inherited()) keep_for_good(std::move(on_device));
  }

  ProcessMark mark;
  KernelShape shape;
  KernelRef on_device;  // nullptr: compilation failed, or the device was already disabled
  KernelRef on_cpu;
  std::optional<backend::cpu::Tagger> tagger;      // if tags are defined
  Error why_not = {ErrorCode::device_failed, {}};  // if on_device is nullptr
  mutable std::atomic<bool> was_checked = false;   // every use is checked until then
};

// One piece of a batch, running on the device.
class FailoverDevice::Work final : public Completion::Pending {
 public:
  Work(FailoverDevice& owner, const FailoverKernel& kernel, const Batch& batch)
      : owner_(owner), kernel_(kernel), batch_(batch) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() override {
    if (!was_waited_for_) static_cast<void>(wait());
  }

  // A failure here counts as a device failure, which wait() handles.
  void start() {
    started_ = guarded([&]() -> Status {
      if (batch_.accumulate && !owner_.holds_far_memory(kernel_.shape, batch_)) {
        saved_.save(batch_, kernel_.shape);
      }
      CALPE_CHECK(prepare_checks());
      // The batch was then refused, and no part of it is running.
      is_refused_ = owner_.device_->may_still_write();
      completion_ = owner_.device_->submit(*kernel_.on_device, batch_);
      return Done{};
    });
  }

  Status wait() override {
    was_waited_for_ = true;
    return guarded([&]() -> Status {
      if (Status ours = owner_.check_process(); !ours) {
        keep_for_good(std::exchange(completion_, Status(Done{})));
        return ours;
      }
      Status done = started_ ? guarded([&] { return completion_.wait(); }) : started_;
      const bool is_over = done || is_refused_;
      if (done) done = guarded([&] { return compare(); });
      // Results of a disabled device are doubtful unless they were checked.
      if (done && owner_.is_left()) done = owner_.reason();
      if (done) return done;
      owner_.leave(done.error());
      if (!is_over && owner_.device_->may_still_write()) {
        return make_error(
            ErrorCode::device_failed, owner_.device_->name(),
            " may still write to the outputs, so the CPU cannot: ", done.error().message);
      }
      saved_.restore(batch_, kernel_.shape);
      return owner_.run_on_cpu(kernel_, batch_);
    });
  }

 private:
  Status prepare_checks() {
    const FailoverLimits& limits = owner_.limits_;
    const backend::Geometry& whole = batch_.geometry;
    const std::size_t units = kernel_.shape.units;
    const std::uint64_t before = owner_.stripes_.fetch_add(batch_.stripe_count);
    if (!kernel_.was_checked) {
      is_first_use_ = true;
      CALPE_CHECK(add_check(0, first_slice(whole, units, limits.checked_bytes / 2)));
      CALPE_CHECK(add_check(0, last_slice(whole, units, limits.checked_bytes / 2)));
    }
    const std::uint64_t every = limits.stripes_per_check;
    for (std::uint64_t n = (before + every - 1) / every * every; n - before < batch_.stripe_count;
         n += every) {
      if (is_first_use_ && n == before) continue;
      CALPE_CHECK(add_check(static_cast<std::size_t>(n - before),
                            some_slice(whole, units, limits.checked_bytes, n / every)));
    }
    return Done{};
  }

  Status add_check(std::size_t stripe, const backend::Geometry& slice) {
    CALPE_TRY(SampleCheck check, SampleCheck::prepare(kernel_.shape, batch_, stripe, slice,
                                                      far_memory(*owner_.device_)));
    checks_.push_back(std::move(check));
    return Done{};
  }

  Status compare() {
    for (const SampleCheck& check : checks_) {
      const backend::cpu::Tagger* const tagger = kernel_.tagger ? &*kernel_.tagger : nullptr;
      CALPE_CHECK(check.compare(*owner_.trusted_, *kernel_.on_cpu, tagger));
      owner_.checks_.fetch_add(1, std::memory_order_relaxed);
    }
    if (is_first_use_) kernel_.was_checked = true;
    return Done{};
  }

  FailoverDevice& owner_;
  const FailoverKernel& kernel_;
  const Batch batch_;
  SavedOutputs saved_;
  std::vector<SampleCheck> checks_;
  bool is_first_use_ = false;
  bool is_refused_ = false;
  Status started_ = Done{};
  Completion completion_ = Status(Done{});
  bool was_waited_for_ = false;
};

FailoverDevice::FailoverDevice(std::unique_ptr<backend::Device> device,
                               std::unique_ptr<backend::Device> trusted,
                               const FailoverLimits& limits)
    : device_(std::move(device)),
      trusted_(std::move(trusted)),
      limits_(limits),
      name_when_left_(text(trusted_->name(), " (", device_->name(), " failed)")) {}

FailoverDevice::~FailoverDevice() {
  if (mark_.is_inherited()) keep_for_good(std::move(device_));
}

Status FailoverDevice::check_process() const {
  if (!mark_.is_inherited()) return Done{};
  return make_error(ErrorCode::device_failed, device_->name(),
                    " was opened by the parent process and cannot be used after fork(): make a "
                    "codec on the CPU in the child, or open the device only there");
}

backend::DeviceMemory* FailoverDevice::memory() {
  if (mark_.is_inherited()) return &inherited_memory();
  return device_->memory();
}

backend::CallerQueues* FailoverDevice::caller_queues() {
  return device_->caller_queues() == nullptr ? nullptr : this;
}

Status FailoverDevice::check_on_device(const FailoverKernel& kernel) const {
  CALPE_CHECK(check_process());
  if (!is_left() && kernel.on_device != nullptr) return Done{};
  const Error why = kernel.on_device == nullptr ? kernel.why_not : reason();
  return make_error(why.code, "the CPU cannot work in a queue of ", device_->name(), ": ",
                    why.message);
}

Status FailoverDevice::prepare(const Kernel& kernel, std::span<const backend::Geometry> regions,
                               bool accumulate) {
  const auto& both = static_cast<const FailoverKernel&>(kernel);
  CALPE_CHECK(check_on_device(both));
  return device_->caller_queues()->prepare(*both.on_device, regions, accumulate);
}

std::size_t FailoverDevice::workspace_bytes(const Kernel& kernel, std::size_t stripe_count) const {
  const auto& both = static_cast<const FailoverKernel&>(kernel);
  if (both.on_device == nullptr) return 0;
  return device_->caller_queues()->workspace_bytes(*both.on_device, stripe_count);
}

Status FailoverDevice::enqueue(const Kernel& kernel, const backend::QueueHandle& queue,
                               const backend::QueuedBatch& batch) {
  const auto& both = static_cast<const FailoverKernel&>(kernel);
  CALPE_CHECK(check_on_device(both));
  return device_->caller_queues()->enqueue(*both.on_device, queue, batch);
}

template <class Compile>
Result<KernelRef> FailoverDevice::compile_both(const KernelShape& shape, const gf::Field* field,
                                               const Compile& compile) {
  CALPE_CHECK(check_process());
  auto kernel = std::make_shared<FailoverKernel>();
  kernel->shape = shape;
  CALPE_TRY(kernel->on_cpu, compile(*trusted_));
  const backend::cpu::CpuKernels* const kernels = trusted_->cpu_kernels();
  if (field != nullptr && field->word_bits() == 8 && kernels != nullptr)
    kernel->tagger.emplace(*field, *kernels);
  if (is_left()) {
    kernel->why_not = reason();
    return KernelRef(std::move(kernel));
  }
  Result<KernelRef> made = guarded([&] { return compile(*device_); });
  if (made) {
    kernel->on_device = *std::move(made);
    return KernelRef(std::move(kernel));
  }
  kernel->why_not = made.error();
  if (made.error().code == ErrorCode::device_failed) {  // not caused by the program
    leave(made.error());
  } else {
    logging::write(text(device_->name(), " cannot compile a kernel; using ", trusted_->name(),
                        " instead: ", made.error().message));
  }
  return KernelRef(std::move(kernel));
}

Result<KernelRef> FailoverDevice::compile(const ir::Program& program) {
  return compile_both(KernelShape::of(program), nullptr,
                      [&](backend::Device& device) { return device.compile(program); });
}

Result<KernelRef> FailoverDevice::compile_matrix(const gf::FieldRef& field,
                                                 const gf::Matrix& rows) {
  return compile_both(KernelShape::of(rows), field.get(),
                      [&](backend::Device& device) { return device.compile_matrix(field, rows); });
}

Result<KernelRef> FailoverDevice::compile_transform(const ir::Transform& transform) {
  return compile_both(KernelShape::of(transform), transform.field.get(),
                      [&](backend::Device& device) { return device.compile_transform(transform); });
}

Status FailoverDevice::run(const Kernel& kernel, const Batch& batch) {
  CALPE_CHECK(check_process());
  const auto& both = static_cast<const FailoverKernel&>(kernel);
  if (is_left() || both.on_device == nullptr) return run_on_cpu(both, batch);
  return submit(kernel, batch).wait();
}

Completion FailoverDevice::submit(const Kernel& kernel, const Batch& batch) {
  if (Status ours = check_process(); !ours) return ours;
  const auto& both = static_cast<const FailoverKernel&>(kernel);
  if (output_bytes(batch, both.shape) == 0) return Status(Done{});
  if (!batch.accumulate) return submit_piece(both, batch);
  // The last piece may run while the caller continues.
  Completion last = Status(Done{});
  Status result =
      for_each_piece(batch, both.shape, limits_.saved_bytes_max, [&](const Batch& piece) -> Status {
        CALPE_CHECK(last.wait());
        last = submit_piece(both, piece);
        return Done{};
      });
  if (!result) return result;
  return last;
}

Completion FailoverDevice::submit_piece(const FailoverKernel& kernel, const Batch& batch) {
  if (is_left() || kernel.on_device == nullptr) return run_on_cpu(kernel, batch);
  auto work = std::make_unique<Work>(*this, kernel, batch);
  work->start();
  return std::unique_ptr<Completion::Pending>(std::move(work));
}

Status FailoverDevice::run_on_cpu(const FailoverKernel& kernel, const Batch& batch) {
  if (!holds_far_memory(kernel.shape, batch)) return trusted_->run(*kernel.on_cpu, batch);
  const Error why = kernel.on_device == nullptr ? kernel.why_not : reason();
  return make_error(why.code, "the CPU cannot finish a batch in the memory of ", device_->name(),
                    ": ", why.message);
}

bool FailoverDevice::holds_far_memory(const KernelShape& shape, const Batch& batch) const {
  const backend::DeviceMemory* const memory = far_memory(*device_);
  if (memory == nullptr) return false;
  const auto holds = [&](const std::byte* shard) { return memory->holds(shard); };
  const std::size_t stripes = batch.stripe_count;
  return std::any_of(batch.outputs, batch.outputs + stripes * shape.shards.outputs, holds) ||
         std::any_of(batch.inputs, batch.inputs + stripes * shape.shards.inputs, holds);
}

void FailoverDevice::leave(const Error& why) {
  {
    const std::lock_guard lock(mutex_);
    if (is_left()) return;
    reason_ = why;
    left_.store(true, std::memory_order_release);
  }
  logging::write(text(device_->name(), " failed and is disabled; using ", trusted_->name(),
                      " instead: ", why.message));
}

Error FailoverDevice::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

}  // namespace calpe::engine
