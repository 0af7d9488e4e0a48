// SPDX-License-Identifier: Apache-2.0
// Combines several devices into one: they share every job and work on it at the same time.
//
// For every kernel and size class, each device is measured once on scratch data. The fastest of
// three ways is then used. By bytes: cut by stripes, else groups, else columns, so that all devices
// finish together. By equation: output shards are distributed by speed, and common parts are
// computed on each device that needs them. Or one device alone. Slow devices are not used. As a
// device may still be compiling its best kernel, it is measured again some seconds later.
//
// Work for devices that do not run on the caller's thread is submitted first. Then the caller does
// its own part, with one short-lived thread for each further device that runs on the caller's
// thread.
#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/process_fork.hpp"
#include "engine/devices/device_shares.hpp"

namespace calpe::engine {

class ScratchJob;

class MultiDevice final : public backend::Device {
 public:
  enum class Way { alone, by_bytes, by_equation };
  // How jobs of one kernel and size class are divided.
  struct Choice {
    Way way = Way::alone;
    std::vector<DeviceSpeed> speeds;  // of each device alone
    std::vector<bool> is_used;
    // Times of the scratch job; 0 = not tried.
    double seconds_alone = 0;
    double seconds_by_bytes = 0;
    double seconds_by_equation = 0;
  };

  // Requires at least two devices, all trusted or checked. A measurement made within settle_seconds
  // of the first use is repeated once afterwards, unless all devices run on the caller's thread.
  explicit MultiDevice(std::vector<std::unique_ptr<backend::Device>> devices,
                       double settle_seconds = 5);

  std::string_view name() const override { return name_; }
  const ir::CostModel& cost_model() const override { return devices_.front()->cost_model(); }
  Result<backend::KernelRef> compile(const ir::Program& program) override;
  Result<backend::KernelRef> compile_matrix(const gf::FieldRef& field,
                                            const gf::Matrix& rows) override;
  Result<backend::KernelRef> compile_transform(const ir::Transform& transform) override;
  backend::Completion submit(const backend::Kernel& kernel, const backend::Batch& batch) override;
  // Uses its own threads, except in a child of fork(): there the first device that runs on the
  // caller's thread does all the work.
  bool runs_on_caller() const override { return mark_.is_inherited(); }
  bool may_still_write() const override;      // true if any of them may
  backend::Profile profile() const override;  // sum over the devices

  // Returns what submit() would do with such a batch. Measures if needed.
  Result<Choice> choice(const backend::Kernel& kernel, const backend::Batch& batch);
  // Divides by bytes, with the given shares: one per device, with sum 1.
  backend::Completion submit_shares(const backend::Kernel& kernel, const backend::Batch& batch,
                                    std::span<const double> shares);
  // Why devices are not used, from the first job of at least 1 MB that did not use them, until a
  // job does. Also written to the log.
  std::vector<std::string> refusals() const;

 private:
  class SplitKernel;
  struct Plan;

  template <class Compile>
  Status compile_all(SplitKernel& kernel, const Compile& compile);
  Result<std::shared_ptr<const Plan>> plan_for(const SplitKernel& kernel,
                                               const backend::Batch& batch);
  Result<std::shared_ptr<Plan>> measure(const SplitKernel& kernel, const backend::Batch& batch);
  Result<std::shared_ptr<Plan>> measure_with(const ScratchJob& job, const SplitKernel& kernel,
                                             const backend::Batch& batch);
  // Compiles output shards [begin, end) only.
  static Result<backend::KernelRef> compile_rows(const SplitKernel& kernel, backend::Device& device,
                                                 std::size_t begin, std::size_t end);
  // Fills plan.dealt. Leaves it empty when outputs cannot be distributed.
  Status deal_equations(const SplitKernel& kernel, Plan& plan);
  backend::Completion submit_equations(const SplitKernel& kernel, const backend::Batch& batch,
                                       const Plan& plan);
  std::vector<bool> on_caller() const;
  void note_refusals(const Choice& choice, std::size_t bytes);
  backend::Completion submit_inherited(const SplitKernel& kernel, const backend::Batch& batch);

  const ProcessMark mark_;
  const std::vector<std::unique_ptr<backend::Device>> devices_;
  const std::chrono::duration<double> settle_;
  std::string name_;
  mutable std::mutex mutex_;
  // One per device, empty if the device is used; guarded by mutex_.
  std::vector<std::string> refusals_;
};

}  // namespace calpe::engine
