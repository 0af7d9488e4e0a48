// SPDX-License-Identifier: Apache-2.0
// Runs programs on simulated ReRAM crossbars (src/reram), to study the hardware: right bytes,
// counts and simulated time, but slow. Never chosen by "auto".
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "base/process_fork.hpp"
#include "reram/counters.hpp"
#include "reram/mapping.hpp"
#include "reram/parameters.hpp"
#include "reram/reram_memory.hpp"

namespace calpe::backend::reram {

struct ReramOptions {
  calpe::reram::MappingOptions mapping = {};
  // Rebuild a single lost shard that is the plain sum of others in the SSDs instead of by the
  // matrix.
  bool xor_mode = true;
  std::size_t ssd_count = 0;  // SSDs that share the work of XOR mode; 0: one per input shard
};

// How a kernel runs.
struct ReramPlan {
  bool is_xor_mode = false;
  std::size_t ssd_count = 0;                             // XOR mode only
  std::shared_ptr<const calpe::reram::Mapping> mapping;  // other modes only
};

class ReramDevice : public Device {
 public:
  explicit ReramDevice(calpe::reram::Parameters parameters, ReramOptions options = {});

  std::string_view name() const override { return name_; }
  const ir::CostModel& cost_model() const override { return cost_model_; }
  // Fails as documented for Device, and with compile_failed if a requested grid does not fit.
  Result<KernelRef> compile(const ir::Program& program) override;
  Completion submit(const Kernel& kernel, const Batch& batch) override;
  // launches: activations; bytes: over the bus; kernel_seconds: simulated.
  Profile profile() const override;

  static const ReramPlan& plan_of(const Kernel& kernel);
  // Since the device was opened.
  calpe::reram::Counters counters() const;
  calpe::reram::Wear wear() const;
  double seconds() const;

 private:
  calpe::reram::Parameters parameters_;
  ReramOptions options_;
  std::string name_;
  ir::CostModel cost_model_ = {};
  mutable ForkMutex mutex_;
  calpe::reram::ReramMemory controller_;                   // multiplies by matrices
  std::map<std::size_t, calpe::reram::ReramMemory> ssds_;  // XOR mode; by number of SSDs
};

// variant: name of a preset; empty: reraid-fit.
Result<std::unique_ptr<Device>> open_reram(std::string_view variant);
std::vector<BackendStatus> list_reram();

// Adds "reram" to the table of backends, once per program.
void add_reram();

}  // namespace calpe::backend::reram
