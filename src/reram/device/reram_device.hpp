// SPDX-License-Identifier: Apache-2.0
// Programs on simulated ReRAM crossbars (src/reram). For people who study the hardware: right
// bytes, counts and simulated time; as a coder it is slow. Never chosen by "auto".
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
  sim::MappingOptions mapping = {};
  // One lost shard that is the plain sum of others is rebuilt in the SSDs; else by the matrix.
  bool xor_mode = true;
  std::size_t ssd_count = 0;  // that share the work of XOR mode; 0: as many as shards are read
};

// How a kernel is run.
struct ReramPlan {
  bool is_xor_mode = false;
  std::size_t ssd_count = 0;                    // XOR mode
  std::shared_ptr<const sim::Mapping> mapping;  // otherwise
};

class ReramDevice : public Device {
 public:
  explicit ReramDevice(sim::Parameters parameters, ReramOptions options = {});

  std::string_view name() const override { return name_; }
  const ir::CostModel& cost_model() const override { return cost_model_; }
  // Fails as Device says, and with compile_failed when a grid that was asked for does not fit.
  Result<KernelRef> compile(const ir::Program& program) override;
  Completion submit(const Kernel& kernel, const Batch& batch) override;
  // launches: activations; bytes over the bus; kernel_seconds: simulated.
  Profile profile() const override;

  static const ReramPlan& plan_of(const Kernel& kernel);
  // Since the device was opened.
  sim::Counters counters() const;
  sim::Wear wear() const;
  double seconds() const;

 private:
  sim::Parameters parameters_;
  ReramOptions options_;
  std::string name_;
  ir::CostModel cost_model_ = {};
  mutable ForkMutex mutex_;
  sim::ReramMemory controller_;                   // multiplies
  std::map<std::size_t, sim::ReramMemory> ssds_;  // add; by how many they are
};

// variant: a preset's name; empty: reraid-fit.
Result<std::unique_ptr<Device>> open_reram(std::string_view variant);
std::vector<BackendStatus> list_reram();

// The row "reram" in the table of backends, once for each program that links this.
void add_reram();

}  // namespace calpe::backend::reram
