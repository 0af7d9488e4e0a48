// SPDX-License-Identifier: Apache-2.0
// A device that cannot be trusted with the CPU behind it: what fails there, or comes back wrong, is
// computed again on the CPU with the same bytes, and the device is left for good.
//
// Checked against the CPU: the first use of every kernel (the first stripe's beginning and end),
// then one stripe in `stripes_per_check`. Waits are limited by the device itself, which returns
// device_failed. Memory that only the device has, and does not share, cannot be read by the CPU:
// such a batch fails with the device's error. So does one that may still be written to by a device
// that hangs.
//
// A driver serves the process that opened it. In a child of fork() every use fails, and what the
// driver made is kept and not given back: the driver would wait for threads that are gone.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "backend/backend.hpp"
#include "base/process_fork.hpp"
#include "engine/devices/batch_bytes.hpp"

namespace calpe::engine {

struct FailoverLimits {
  // Outputs that are saved at a time, in case that the CPU has to add to them instead.
  std::size_t saved_bytes_max = std::size_t{32} << 20;
  std::size_t checked_bytes = std::size_t{64} << 10;  // of every shard of a checked stripe
  std::uint64_t stripes_per_check = 4096;
};

class FailoverDevice final : public backend::Device {
 public:
  // Both take programs of the same dialects; `trusted` runs on the caller.
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
  // With accumulate and more outputs than are saved at a time, all but the last of them are done
  // when it returns.
  backend::Completion submit(const backend::Kernel& kernel, const backend::Batch& batch) override;
  Status run(const backend::Kernel& kernel, const backend::Batch& batch) override;
  bool runs_on_caller() const override { return is_left() || device_->runs_on_caller(); }
  // In a child, too: memory that the device uses is the parent's to free.
  bool may_still_write() const override {
    return mark_.is_inherited() || device_->may_still_write();
  }
  backend::DeviceMemory* memory() override;
  backend::Profile profile() const override {
    return mark_.is_inherited() ? backend::Profile{} : device_->profile();
  }

  bool is_left() const noexcept { return left_.load(std::memory_order_acquire); }
  std::uint64_t checks() const noexcept { return checks_.load(std::memory_order_relaxed); }

 private:
  class FailoverKernel;
  class Work;

  template <class Compile>
  Result<backend::KernelRef> compile_both(const KernelShape& shape, const Compile& compile);
  backend::Completion submit_piece(const FailoverKernel& kernel, const backend::Batch& batch);
  // Also when the device was left or could not compile the kernel before.
  Status run_on_cpu(const FailoverKernel& kernel, const backend::Batch& batch);
  bool holds_far_memory(const KernelShape& shape, const backend::Batch& batch) const;
  // Fails in a child of the process that opened the device.
  Status check_process() const;
  // The first call writes the log line.
  void leave(const Error& why);
  Error reason() const;

  const ProcessMark mark_;
  std::unique_ptr<backend::Device> device_;
  const std::unique_ptr<backend::Device> trusted_;
  const FailoverLimits limits_;
  const std::string name_when_left_;
  std::atomic<bool> left_ = false;
  std::atomic<std::uint64_t> stripes_ = 0;  // given to the device
  std::atomic<std::uint64_t> checks_ = 0;   // stripes compared with the CPU's
  mutable std::mutex mutex_;
  Error reason_ = {ErrorCode::device_failed, {}};  // why it was left; guarded by mutex_
};

}  // namespace calpe::engine
