// SPDX-License-Identifier: Apache-2.0
#include "calpe/devices/gpu_rates.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>

#include <calpe/device_memory.hpp>

#include "base/try.hpp"
#include "calpe/devices/backend_rate.hpp"
#include "calpe/devices/flat_batch.hpp"
#include "calpe/devices/scoped_variable.hpp"
#include "calpe/predict/known_gpus.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr double cell_seconds = 0.3;
constexpr std::size_t rounds_min = 3;
// More than the L2 of any GPU, so that device memory is measured.
constexpr std::size_t device_bytes = std::size_t{512} << 20U;
constexpr std::size_t host_bytes = std::size_t{64} << 20U;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Lower-case words, and pairs of neighbours as one word: "RTX 4090" has rtx, 4090 and rtx4090.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  const std::size_t single = words.size();
  for (std::size_t i = 1; i < single; ++i)
    words.push_back(words[i - 1] + words[i]);
  return words;
}

enum class RateMemory : std::uint8_t { device, host, registered };

std::string_view name_of(RateMemory memory) {
  switch (memory) {
    case RateMemory::device:
      return "device";
    case RateMemory::host:
      return "host";
    case RateMemory::registered:
      return "registered";
  }
  return "";
}

struct Measured {
  double gb_per_s = 0;
  std::optional<double> kernel_gb_per_s = {};  // time of kernels alone, by the device's clock
  std::size_t bytes = 0;                       // of all shards of a call
};

struct Cell {
  const CodeSpec& spec;
  bool decodes = false;
  RateMemory memory = RateMemory::device;
};

Result<Plan> plan_of(const Cell& cell, const Codec& codec) {
  if (!cell.decodes) return codec.plan_encode();
  const std::size_t all = std::size_t{cell.spec.data_shards} + cell.spec.parity_shards;
  std::vector<ShardIndex> shards(all);
  std::iota(shards.begin(), shards.end(), ShardIndex{0});
  const std::size_t lost = std::min<std::size_t>(cell.spec.parity_shards, cell.spec.data_shards);
  return codec.plan_decode(std::span(shards).subspan(lost), std::span(shards).first(lost));
}

// Median time of a call, and the kernels' share of it.
Result<Measured> measure_cell(const std::string& backend, const Cell& cell, std::size_t bytes) {
  const WaitCompile wait(true);
  const ScopedVariable profile("CALPE_PROFILE", "1");
  CALPE_TRY(const Codec codec, Codec::create(cell.spec, {.backend = backend}));
  CALPE_TRY(const Plan plan, plan_of(cell, codec));
  const std::size_t shards = std::size_t{cell.spec.data_shards} + cell.spec.parity_shards;
  const std::size_t shard_bytes = std::size_t{256} << 10U;
  const FlatBatch batch(codec, plan,
                        {.stripes = std::max<std::size_t>(bytes / (shards * shard_bytes), 1),
                         .shard_bytes = shard_bytes,
                         .gap_bytes = 256});
  TrialBytes content = batch.make_content();
  Shard memory = content;
  std::optional<DeviceMemory> device;
  std::optional<RegisteredMemory> registered;
  if (cell.memory == RateMemory::device) {
    CALPE_TRY(device, DeviceMemory::allocate(codec, batch.bytes()));
    CALPE_CHECK(device->write(0, content));
    memory = device->shard(0, batch.bytes());
  } else if (cell.memory == RateMemory::registered) {
    CALPE_TRY(registered, RegisteredMemory::create(codec, content));
  }
  for (int i = 0; i < 2; ++i)
    CALPE_CHECK(batch.run(codec, plan, memory));  // compiles, and wakes the clocks
  const double kernel_before = device_profile(codec).kernel_seconds;
  std::vector<double> calls;
  const Clock::time_point start = Clock::now();
  while (calls.size() < rounds_min || seconds_since(start) < cell_seconds) {
    const Clock::time_point call = Clock::now();
    CALPE_CHECK(batch.run(codec, plan, memory));
    calls.push_back(seconds_since(call));
  }
  const double kernel = device_profile(codec).kernel_seconds - kernel_before;
  const auto data = static_cast<double>(batch.data_bytes());
  Measured measured{.gb_per_s = data / median(calls) * 1e-9, .bytes = batch.bytes()};
  if (kernel > 0) {
    measured.kernel_gb_per_s = data * static_cast<double>(calls.size()) / kernel * 1e-9;
  }
  return measured;
}

// With less memory while the device does not have enough.
Result<Measured> measure_fitting(const std::string& backend, const Cell& cell) {
  std::size_t bytes = cell.memory == RateMemory::device ? device_bytes : host_bytes;
  while (true) {
    Result<Measured> measured = measure_cell(backend, cell, bytes);
    if (measured || cell.memory != RateMemory::device || bytes < device_bytes / 64) return measured;
    bytes /= 4;
  }
}

Json cell_json(const std::string& backend, const PredictedRow& row, const Cell& cell,
               bool has_prediction) {
  Json json = {{"code", std::to_string(cell.spec.data_shards) + "+" +
                            std::to_string(cell.spec.parity_shards)},
               {"layout", cell.spec.layout == Layout::bytes ? "bytes" : "packets"},
               {"operation", cell.decodes ? "decode" : "encode"},
               {"memory", name_of(cell.memory)},
               {"gb_per_s", nullptr},
               {"kernel_gb_per_s", nullptr},
               {"problem", ""}};
  const Result<Measured> measured = measure_fitting(backend, cell);
  if (!measured) {
    json["problem"] = measured.error().message;
  } else {
    json["gb_per_s"] = measured->gb_per_s;
    json["job_bytes"] = measured->bytes;
    if (measured->kernel_gb_per_s) json["kernel_gb_per_s"] = *measured->kernel_gb_per_s;
  }
  // Decoding of other losses has other kernels; only encoders are counted.
  if (cell.decodes) return json;
  const KernelCounts& counts = row.kernel.counts;
  json["alu_per_byte"] = counts.alu_per_byte;
  json["issue_per_byte"] = counts.issue_per_byte;
  json["row_groups"] = counts.row_groups;
  if (!has_prediction) return json;
  const Bound& bound =
      cell.memory == RateMemory::device ? row.prediction.device : row.prediction.host;
  json["predicted_gb_per_s"] = bound.gb_per_s;
  json["predicted_limit"] = bound.unit;
  if (measured) json["measured_over_predicted"] = measured->gb_per_s / bound.gb_per_s;
  return json;
}

}  // namespace

PredictedCodes gpu_rate_codes() {
  return {.shapes = {"4+2", "10+4", "16+4", "16+16", "223+32"}, .profile = "cauchy"};
}

std::optional<GpuDescription> find_known_gpu(const std::string& device) {
  const std::vector<std::string> words = words_of(device);
  const Result<std::vector<NamedGpu>> gpus = named_gpus();
  if (!gpus) return std::nullopt;
  for (const NamedGpu& gpu : *gpus) {
    if (std::ranges::find(words, gpu.name) != words.end()) return gpu.description;
  }
  return std::nullopt;
}

Json measure_gpu(const std::string& backend, const std::vector<PredictedRow>& rows,
                 bool has_prediction) {
  Json list = Json::array();
  for (const PredictedRow& row : rows) {
    for (const bool decodes : {false, true}) {
      for (const RateMemory memory :
           {RateMemory::device, RateMemory::host, RateMemory::registered}) {
        const Cell cell{.spec = row.spec, .decodes = decodes, .memory = memory};
        list.push_back(cell_json(backend, row, cell, has_prediction));
      }
    }
  }
  return list;
}

Json measure_call(const std::string& backend) {
  constexpr std::size_t calls = 1000;
  const auto measure = [&]() -> Result<std::vector<double>> {
    const WaitCompile wait(true);
    CALPE_TRY(const Codec codec,
              Codec::create({.family = CodeFamily::cauchy, .data_shards = 10, .parity_shards = 4},
                            {.backend = backend}));
    const Plan& plan = codec.plan_encode();
    const FlatBatch batch(codec, plan, {.stripes = 1, .shard_bytes = 4096});
    CALPE_TRY(const DeviceMemory memory, DeviceMemory::allocate(codec, batch.bytes()));
    CALPE_CHECK(memory.write(0, batch.make_content()));
    std::vector<double> times;
    for (std::size_t i = 0; i < calls; ++i) {
      const Clock::time_point start = Clock::now();
      CALPE_CHECK(batch.run(codec, plan, memory.shard(0, batch.bytes())));
      times.push_back(seconds_since(start) * 1e6);
    }
    std::ranges::sort(times);
    return times;
  };
  const Result<std::vector<double>> times = measure();
  if (!times) return {{"problem", times.error().message}};
  return {{"code", "10+4"},
          {"shard_bytes", 4096},
          {"median_us", (*times)[calls / 2]},
          {"p99_us", (*times)[calls * 99 / 100]}};
}

}  // namespace calpe::tools
