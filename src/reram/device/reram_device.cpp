// SPDX-License-Identifier: Apache-2.0
#include "reram/device/reram_device.hpp"

#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "ir/linear_map.hpp"
#include "ir/lower_to_xor.hpp"
#include "ir/verify.hpp"
#include "reram/device/reram_job.hpp"

namespace calpe::backend::reram {

namespace {

constexpr std::string_view default_preset = "reraid-fit";

// Returns whether every output shard is the sum of all input shards.
bool is_plain_sum(const gf::BitMatrix& bits, std::size_t unit_count) {
  if (bits.rows() != unit_count || bits.columns() == 0) return false;
  for (std::size_t r = 0; r < bits.rows(); ++r) {
    for (std::size_t c = 0; c < bits.columns(); ++c) {
      if (bits.get(r, c) != (c % unit_count == r)) return false;
    }
  }
  return true;
}

}  // namespace

ReramDevice::ReramDevice(calpe::reram::Parameters parameters, ReramOptions options)
    : parameters_(std::move(parameters)),
      options_(options),
      name_(text("reram:", parameters_.name)),
      controller_(parameters_) {}

Result<KernelRef> ReramDevice::compile(const ir::Program& program) {
  if (const Status sound = ir::verify(program); !sound) {
    return make_error(ErrorCode::compile_failed, sound.error().message);
  }
  const bool is_gf = program.dialect() == ir::Dialect::gf;
  if (is_gf && program.field().word_bits() != 8) {
    return make_error(ErrorCode::compile_failed, "gf program has symbols of ",
                      program.field().word_bits(), " bits; expected 8");
  }
  gf::BitMatrix bits = ir::bit_map(is_gf ? ir::lower_to_xor(program) : program);
  ReramPlan plan;
  plan.is_xor_mode =
      options_.xor_mode && is_plain_sum(bits, is_gf ? 8 : std::size_t{program.unit_count()});
  if (plan.is_xor_mode) {
    plan.ssd_count = options_.ssd_count == 0 ? program.input_shards() : options_.ssd_count;
  } else {
    Result<calpe::reram::Mapping> mapping =
        calpe::reram::map_matrix(std::move(bits), parameters_, options_.mapping);
    if (!mapping) return make_error(ErrorCode::compile_failed, mapping.error().message);
    plan.mapping = std::make_shared<const calpe::reram::Mapping>(*std::move(mapping));
  }
  return KernelRef(std::make_shared<ReramKernel>(program.shape(), std::move(plan)));
}

const ReramPlan& ReramDevice::plan_of(const Kernel& kernel) {
  return static_cast<const ReramKernel&>(kernel).plan;
}

Completion ReramDevice::submit(const Kernel& kernel, const Batch& batch) {
  const auto& own = static_cast<const ReramKernel&>(kernel);
  const std::scoped_lock lock(mutex_);
  if (own.plan.is_xor_mode) {
    const auto place = ssds_.try_emplace(own.plan.ssd_count, parameters_, own.plan.ssd_count).first;
    sum_batch(place->second, own, batch);
  } else {
    multiply_batch(controller_, own, batch);
  }
  return Status(Done{});
}

Profile ReramDevice::profile() const {
  const calpe::reram::Counters all = counters();
  return {.builds = 0,
          .launches = all.activations,
          .copy_in_bytes = all.bytes_in,
          .copy_out_bytes = all.bytes_out,
          .kernel_seconds = seconds()};
}

calpe::reram::Counters ReramDevice::counters() const {
  const std::scoped_lock lock(mutex_);
  calpe::reram::Counters all = controller_.counters();
  for (const auto& [count, memory] : ssds_)
    all += memory.counters();
  return all;
}

calpe::reram::Wear ReramDevice::wear() const {
  const std::scoped_lock lock(mutex_);
  calpe::reram::Wear wear = controller_.wear();
  for (const auto& [count, memory] : ssds_)
    wear.merge(memory.wear().per_row);
  return wear;
}

double ReramDevice::seconds() const {
  const std::scoped_lock lock(mutex_);
  double seconds = controller_.seconds();
  for (const auto& [count, memory] : ssds_)
    seconds += memory.seconds();
  return seconds;
}

Result<std::unique_ptr<Device>> open_reram(std::string_view variant) {
  CALPE_TRY(calpe::reram::Parameters parameters,
            calpe::reram::find_preset(variant.empty() ? default_preset : variant));
  return std::unique_ptr<Device>(std::make_unique<ReramDevice>(std::move(parameters)));
}

std::vector<BackendStatus> list_reram() {
  return {{.name = "reram",
           .description = "simulated ReRAM crossbars, for research; see calpe reram",
           .available = true,
           .reason = {}}};
}

void add_reram() {
  add_backend({.name = "reram", .auto_choice = {}, .open = open_reram, .list = list_reram});
}

}  // namespace calpe::backend::reram
