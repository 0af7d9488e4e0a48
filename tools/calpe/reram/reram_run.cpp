// SPDX-License-Identifier: Apache-2.0
#include "calpe/reram/reram_run.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "bench/harness/stripe.hpp"
#include "calpe/codes/lost_plan.hpp"
#include "ir/plan_program.hpp"
#include "reram/energy.hpp"
#include "reram/error_rates.hpp"
#include "reram/timing.hpp"

namespace calpe::tools {

namespace {

using backend::reram::ReramDevice;
using backend::reram::ReramPlan;

constexpr std::uint64_t data_seed = 7;

// The shards of one long stripe, and the results of simulator and CPU.
class Shards {
 public:
  Shards(std::size_t shards, std::size_t outputs, std::size_t shard_bytes)
      : bytes_(shard_bytes),
        all_(shards * bytes_),
        simulated_(outputs * bytes_),
        cpu_(outputs * bytes_) {}

  // Fills in random data and its parity.
  Status fill(const Codec& codec) {
    bench::fill_random(all_, data_seed);
    std::vector<ConstShard> data;
    std::vector<Shard> parity;
    for (std::size_t i = 0; i < codec.spec().data_shards; ++i)
      data.emplace_back(at(all_, i));
    for (std::size_t i = 0; i < codec.spec().parity_shards; ++i)
      parity.push_back(at(all_, codec.spec().data_shards + i));
    return codec.encode(data, parity);
  }

  Status run_on_cpu(const Codec& codec, const Plan& plan) {
    std::vector<ConstShard> inputs;
    std::vector<Shard> outputs;
    for (const ShardIndex shard : plan.reads())
      inputs.emplace_back(at(all_, shard));
    for (std::size_t i = 0; i < plan.writes().size(); ++i)
      outputs.push_back(at(cpu_, i));
    return codec.run(plan, inputs, outputs);
  }

  Status run_on(ReramDevice& device, const backend::Kernel& kernel, const Plan& plan,
                std::size_t packet_bytes) {
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    for (const ShardIndex shard : plan.reads())
      inputs.push_back(at(all_, shard).data());
    for (std::size_t i = 0; i < plan.writes().size(); ++i)
      outputs.push_back(at(simulated_, i).data());
    backend::Batch batch;
    batch.inputs = inputs.data();
    batch.outputs = outputs.data();
    batch.geometry = {.unit_bytes = packet_bytes,
                      .unit_stride = packet_bytes,
                      .group_stride = reram_word_bits * packet_bytes,
                      .group_count = bytes_ / (reram_word_bits * packet_bytes)};
    return device.run(kernel, batch);
  }

  std::uint64_t wrong_bits() const {
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < cpu_.size(); ++i) {
      wrong +=
          static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(cpu_[i] ^ simulated_[i])));
    }
    return wrong;
  }

 private:
  Shard at(std::vector<std::byte>& memory, std::size_t index) const {
    return Shard(memory).subspan(index * bytes_, bytes_);
  }

  std::size_t bytes_;
  std::vector<std::byte> all_;
  std::vector<std::byte> simulated_;
  std::vector<std::byte> cpu_;
};

std::size_t rows_driven(const ReramRun& run, std::size_t limit) {
  std::size_t rows = run.plan.is_xor_mode ? run.reads.size() : 0;
  if (run.plan.is_xor_mode) return rows;
  for (const reram::Tile& tile : run.plan.mapping->tiles)
    rows = std::max(rows, tile.first_row + tile.input_count);
  return limit == 0 ? rows : std::min(rows, limit);
}

// Error rate if all rows are driven and each cell holds a random bit.
double sum_error_rate(const reram::Parameters& noise, std::size_t rows) {
  double rate = 0;
  double logarithm = -static_cast<double>(rows) * std::log(2.0);  // ln of C(rows, ones) / 2^rows
  for (std::size_t ones = 0; ones <= rows; ++ones) {
    rate += std::exp(logarithm) * reram::bit_error_rate(noise, ones, rows - ones);
    logarithm += std::log(static_cast<double>(rows - ones) / static_cast<double>(ones + 1));
  }
  return rate;
}

ReramErrors errors_of(const ReramRequest& request, const ReramRun& run, std::uint64_t wrong) {
  ReramErrors errors{
      .bits = run.bytes_written * 8,
      .wrong = wrong,
      .rows_driven = rows_driven(run, request.options.mapping.active_rows_max),
      .rows_for_target = reram::active_rows_for(request.parameters, request.target_rate)};
  if (run.plan.is_xor_mode) {
    errors.closed_form = sum_error_rate(request.parameters, run.reads.size());
  } else if (!run.plan.mapping->is_combined() && errors.rows_driven >= run.plan.mapping->inputs()) {
    errors.closed_form = reram::bit_error_rate(request.parameters, run.plan.mapping->matrix);
  }
  return errors;
}

void add_rates(const reram::Parameters& parameters, ReramRun& run) {
  run.rate = static_cast<double>(run.bytes_read) / run.simulated_seconds;
  if (run.plan.is_xor_mode) {
    const std::size_t rows = run.reads.size();
    run.adc_bits_needed = static_cast<unsigned>(std::bit_width(rows));
    run.steady_rate =
        static_cast<double>(rows) * reram::steady_sum_rate(parameters, rows, run.plan.ssd_count);
  } else {
    run.adc_bits_needed = reram::adc_bits_needed(*run.plan.mapping);
    run.steady_rate = reram::steady_rate(parameters, *run.plan.mapping);
  }
}

}  // namespace

CodeSpec reram_spec(unsigned data, unsigned parity, const reram::Parameters& parameters) {
  return {.family = CodeFamily::hybrid,
          .layout = Layout::packets,
          .data_shards = data,
          .parity_shards = parity,
          .word_bits = reram_word_bits,
          .packet_bytes = static_cast<std::uint32_t>(parameters.packet_bytes.value)};
}

Result<ReramRun> run_reram(const ReramRequest& request) {
  const CodeSpec spec = reram_spec(request.data, request.parity, request.parameters);
  CALPE_TRY(const Codec codec, Codec::create(spec, {.backend = "cpu"}));
  CALPE_TRY(const Plan plan, plan_without(codec, request.lose));
  CALPE_TRY(const ir::Program program, ir::xor_program(plan, codec.spec()));
  backend::reram::ReramOptions options = request.options;
  options.xor_mode &= !request.lose.empty();  // encoding always runs in the controller
  ReramDevice device(request.parameters, options);
  CALPE_TRY(const backend::KernelRef kernel, device.compile(program));

  const std::size_t group_bytes = std::size_t{reram_word_bits} * spec.packet_bytes;
  ReramRun run;
  run.spec = codec.spec();
  run.is_decode = !request.lose.empty();
  run.reads.assign(plan.reads().begin(), plan.reads().end());
  run.writes.assign(plan.writes().begin(), plan.writes().end());
  const std::size_t stripe_bytes = group_bytes * request.data;
  run.stripes = std::max<std::size_t>(1, divide_up(request.bytes, stripe_bytes));
  const std::size_t shard_bytes = run.stripes * group_bytes;
  run.bytes_read = run.reads.size() * shard_bytes;
  run.bytes_written = run.writes.size() * shard_bytes;
  Shards shards(std::size_t{request.data} + request.parity, run.writes.size(), shard_bytes);
  CALPE_CHECK(shards.fill(codec));
  CALPE_CHECK(shards.run_on_cpu(codec, plan));

  const auto start = std::chrono::steady_clock::now();
  CALPE_CHECK(shards.run_on(device, *kernel, plan, spec.packet_bytes));
  run.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.plan = ReramDevice::plan_of(*kernel);
  run.counters = device.counters();
  run.wear = device.wear();
  run.simulated_seconds = device.seconds();
  add_rates(request.parameters, run);
  run.errors = errors_of(request, run, shards.wrong_bits());
  run.joules = reram::energy_joules(request.parameters, run.counters);
  return run;
}

}  // namespace calpe::tools
