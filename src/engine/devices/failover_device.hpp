// SPDX-License-Identifier: Apache-2.0
// Backs an untrusted device with the CPU. When the device fails or returns wrong bytes, the CPU
// repeats the work with the same result, and the device is disabled permanently.
//
// Checks against the CPU: the first use of every kernel (start and end of the first stripe), then
// one stripe in `stripes_per_check`. The device itself limits waits and returns device_failed. The
// CPU cannot read memory that only the device can access, so such a batch fails with the device's
// error. So does a batch that a hung device may still write to.
//
// A driver serves only the process that opened it. In a child of fork() every use fails, and
// objects of the driver are leaked, as the driver would wait for threads that do not exist there.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "backend/backend.hpp"
#include "backend/caller_queues.hpp"
#include "base/process_fork.hpp"
#include "engine/devices/batch_bytes.hpp"

namespace calpe::engine {

struct FailoverLimits {
  // Outputs saved at a time, in case the CPU has to add to them instead.
  std::size_t saved_bytes_max = std::size_t{32} << 20;
  std::size_t checked_bytes = std::size_t{64} << 10;  // per shard of a checked stripe
  std::uint64_t stripes_per_check = 4096;
};

class FailoverDevice final : public backend::Device, private backend::CallerQueues {
 public:
  // Both devices must accept the same dialects. `trusted` runs on the caller's thread.
  FailoverDevice(std::unique_ptr<backend::Device> device, std::unique_ptr<backend::Device> trusted,
                 const FailoverLimits& limits = {});
  FailoverDevice(const FailoverDevice&) = delete;
  FailoverDevice& operator=(const FailoverDevice&) = delete;
  ~FailoverDevice() override;

  std::string_view name() const override { return is_left() ? name_when_left_ : device_->name(); }
  const ir::CostModel& cost_model() const override { return device_->cost_model(); }
  Result<backend::KernelRef> compile(const ir::Program& program) override;
  Result<backend::KernelRef> compile_matrix(const gf::FieldRef& field,
                                            const gf::Matrix& rows) override;
  Result<backend::KernelRef> compile_transform(const ir::Transform& transform) override;
  // With accumulate and more outputs than are saved at a time, all parts except the last are done
  // on return.
  backend::Completion submit(const backend::Kernel& kernel, const backend::Batch& batch) override;
  Status run(const backend::Kernel& kernel, const backend::Batch& batch) override;
  bool runs_on_caller() const override { return is_left() || device_->runs_on_caller(); }
  // Also true in a child process: memory in use by the device is the parent's to free.
  bool may_still_write() const override {
    return mark_.is_inherited() || device_->may_still_write();
  }
  backend::DeviceMemory* memory() override;
  // Work in a queue of the caller is neither checked nor repeated: nothing waits for it here.
  backend::CallerQueues* caller_queues() override;
  backend::Profile profile() const override {
    return mark_.is_inherited() ? backend::Profile{} : device_->profile();
  }

  bool is_left() const noexcept { return left_.load(std::memory_order_acquire); }
  std::uint64_t checks() const noexcept { return checks_.load(std::memory_order_relaxed); }

 private:
  class FailoverKernel;
  class Work;

  Status prepare(const backend::Kernel& kernel, std::span<const backend::Geometry> regions,
                 bool accumulate) override;
  std::size_t workspace_bytes(const backend::Kernel& kernel,
                              std::size_t stripe_count) const override;
  Status enqueue(const backend::Kernel& kernel, const backend::QueueHandle& queue,
                 const backend::QueuedBatch& batch) override;
  // Fails if the device cannot run the kernel.
  Status check_on_device(const FailoverKernel& kernel) const;

  // field: of a matrix or transform, or nullptr.
  template <class Compile>
  Result<backend::KernelRef> compile_both(const KernelShape& shape, const gf::Field* field,
                                          const Compile& compile);
  backend::Completion submit_piece(const FailoverKernel& kernel, const backend::Batch& batch);
  // Also used when the device is disabled or failed to compile the kernel.
  Status run_on_cpu(const FailoverKernel& kernel, const backend::Batch& batch);
  bool holds_far_memory(const KernelShape& shape, const backend::Batch& batch) const;
  // Fails in a child of the process that opened the device.
  Status check_process() const;
  // Disables the device. The first call writes the log line.
  void leave(const Error& why);
  Error reason() const;

  const ProcessMark mark_;
  std::unique_ptr<backend::Device> device_;
  const std::unique_ptr<backend::Device> trusted_;
  const FailoverLimits limits_;
  const std::string name_when_left_;
  std::atomic<bool> left_ = false;
  std::atomic<std::uint64_t> stripes_ = 0;  // run on the device
  std::atomic<std::uint64_t> checks_ = 0;   // stripes compared with the CPU
  mutable std::mutex mutex_;
  Error reason_ = {ErrorCode::device_failed, {}};  // why it was disabled; guarded by mutex_
};

}  // namespace calpe::engine
