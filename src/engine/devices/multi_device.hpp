// SPDX-License-Identifier: Apache-2.0
// Several devices as one: every job is shared out over them and done at the same time.
//
// For every kernel and size class each device is measured once on scratch data. Then the job is cut
// by bytes (stripes, else groups, else columns, so that all end together) or by equation (output
// shards are dealt out by speed, and what they have in common is computed wherever it is needed),
// or given to one device alone: whichever took least. Devices that lose are refused. As a device of
// its own may still be compiling its best kernel then, it gets a second chance some seconds later.
//
// Work of devices that do not run on the caller is submitted first; then the caller does its own
// part, with one short-lived thread for each further device that runs on the caller.
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

class SplitDevice final : public backend::Device {
 public:
  enum class Way { alone, by_bytes, by_equation };
  // How jobs of one kernel and size class are done.
  struct Choice {
    Way way = Way::alone;
    std::vector<DeviceSpeed> speeds;  // of each device by itself
    std::vector<bool> is_used;
    // Of the scratch job; 0 where that was not tried.
    double seconds_alone = 0;
    double seconds_by_bytes = 0;
    double seconds_by_equation = 0;
  };

  // At least two, all of them trusted or watched. What was measured sooner after the first use than
  // settle_seconds is measured once more after it, unless all run on the caller.
  explicit SplitDevice(std::vector<std::unique_ptr<backend::Device>> devices,
                       double settle_seconds = 5);

  std::string_view name() const override { return name_; }
  const ir::CostModel& cost_model() const override { return devices_.front()->cost_model(); }
  Result<backend::KernelRef> compile(const ir::Program& program) override;
  Result<backend::KernelRef> compile_matrix(const gf::FieldRef& field,
                                            const gf::Matrix& rows) override;
  Result<backend::KernelRef> compile_transform(const ir::Transform& transform) override;
  backend::Completion submit(const backend::Kernel& kernel, const backend::Batch& batch) override;
  // It has threads of its own, but in a child of fork(): there the first device that runs on the
  // caller does all the work.
  bool runs_on_caller() const override { return mark_.is_inherited(); }
  bool may_still_write() const override;      // any of them
  backend::Profile profile() const override;  // the devices' sum

  // What submit() would do with such a batch; measures when nobody did.
  Result<Choice> choice(const backend::Kernel& kernel, const backend::Batch& batch);
  // By bytes, in these shares, one per device, adding up to 1.
  backend::Completion submit_shares(const backend::Kernel& kernel, const backend::Batch& batch,
                                    std::span<const double> shares);
  // Why devices were refused, each for the first job of a megabyte or more that did, until one
  // takes it; they are log lines, too.
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
  // Of output shards [begin, end).
  static Result<backend::KernelRef> compile_rows(const SplitKernel& kernel, backend::Device& device,
                                                 std::size_t begin, std::size_t end);
  // Fills plan.dealt; leaves it empty when there is nothing to deal.
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
  std::vector<std::string> refusals_;  // one per device, empty where it was not; by mutex_
};

}  // namespace calpe::engine
