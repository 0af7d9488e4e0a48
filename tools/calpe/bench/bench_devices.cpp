// SPDX-License-Identifier: Apache-2.0
#include "calpe/bench/bench_devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

#include <calpe/device_memory.hpp>

#include "base/text.hpp"
#include "base/try.hpp"
#include "bench/harness/clock.hpp"
#include "bench/harness/report_json.hpp"
#include "bench/harness/statistics.hpp"
#include "calpe/devices/backend_rate.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;
using bench::Clock;
using bench::seconds_now;

constexpr std::size_t shard_bytes = rate_shard_bytes;
constexpr std::size_t data_bytes = rate_data * shard_bytes;
constexpr std::size_t parity_bytes = rate_parity * shard_bytes;
constexpr std::size_t stripe_bytes = data_bytes + parity_bytes;
// Bounds the wait for a hung driver.
constexpr unsigned phases_seconds_max = 60;

struct Shards {
  std::vector<ConstShard> data;
  std::vector<Shard> parity;
};

Shards shards_of(Shard stripe) {
  Shards shards;
  for (std::size_t i = 0; i < rate_data; ++i)
    shards.data.emplace_back(stripe.subspan(i * shard_bytes, shard_bytes));
  for (std::size_t i = rate_data; i < rate_data + rate_parity; ++i)
    shards.parity.push_back(stripe.subspan(i * shard_bytes, shard_bytes));
  return shards;
}

// jit and openmp only have kernels for XOR programs.
Layout layout_of(const std::string& device) {
  const bool is_xor = device.rfind("jit", 0) == 0 || device.rfind("openmp", 0) == 0;
  return is_xor ? Layout::packets : Layout::bytes;
}

Result<Codec> codec_on(const std::string& device) {
  return Codec::create({.family = CodeFamily::hybrid,
                        .layout = layout_of(device),
                        .data_shards = rate_data,
                        .parity_shards = rate_parity},
                       {.backend = device});
}

// --- phases ----------------------------------------------------------------------------------

double timed(const std::function<void()>& work) {
  const double start = seconds_now(Clock::wall);
  work();
  return seconds_now(Clock::wall) - start;
}

Result<Json> phases_of(const std::string& device, double exploration_seconds) {
  Json row = {{"device", device},
              {"data_shards", rate_data},
              {"parity_shards", rate_parity},
              {"shard_bytes", shard_bytes}};
  std::optional<Result<Codec>> made;
  const double creation = timed([&] { made.emplace(codec_on(device)); });
  if (!*made) return std::move(*made).error();
  const Codec codec = **std::move(made);
  const double build = device_profile(codec).build_seconds;
  std::optional<Result<DeviceMemory>> memory;
  const double buffers =
      timed([&] { memory.emplace(DeviceMemory::allocate(codec, stripe_bytes)); });
  if (!*memory) return std::move(*memory).error();
  const DeviceMemory place = **std::move(memory);
  std::vector<std::byte> host(stripe_bytes, std::byte{7});
  Status status = Done{};
  const double first_in =
      timed([&] { status = place.write(0, std::span(host).first(data_bytes)); });
  CALPE_CHECK(std::move(status));
  const Shards shards = shards_of(place.shard(0, stripe_bytes));
  // The first call compiles the remaining kernels.
  const double first_call = timed([&] { status = codec.encode(shards.data, shards.parity); });
  CALPE_CHECK(std::move(status));
  const double kernel = timed([&] { status = codec.encode(shards.data, shards.parity); });
  CALPE_CHECK(std::move(status));
  const double out =
      timed([&] { status = place.read(data_bytes, std::span(host).last(parity_bytes)); });
  CALPE_CHECK(std::move(status));
  // Without a driver there is nothing to open: creating the codec only compiles.
  const double opening = codec.runs_on_caller() ? 0 : std::max(0.0, creation - build);
  row["platform_seconds"] = bench::rounded(exploration_seconds + opening);
  row["buffers_seconds"] = bench::rounded(buffers);
  row["compile_seconds"] = bench::rounded(creation - opening + std::max(0.0, first_call - kernel));
  row["transfer_in_seconds"] = bench::rounded(first_in);
  row["kernel_seconds"] = bench::rounded(kernel);
  row["transfer_out_seconds"] = bench::rounded(out);
  return row;
}

// Runs in the child; returns one JSON text.
std::string phases_text(const std::vector<std::string>& asked) {
  setenv("CALPE_PROFILE", "1", 1);
  setenv("CALPE_CACHE_DIR", "", 1);
  setenv("CALPE_DEVICE_TUNE", "0", 1);
  const WaitCompile wait(true);
  Json rows = Json::array();
  const double exploration = timed([] { static_cast<void>(list_backends()); });
  const auto devices = devices_asked_for(asked);
  if (!devices) return rows.dump();  // the parent reports the error
  for (const std::string& device : *devices) {
    auto row = phases_of(device, exploration);
    rows.push_back(row ? *std::move(row)
                       : Json{{"device", device},
                              {"status", "not measured"},
                              {"reason", row.error().message}});
  }
  return rows.dump();
}

std::string read_all(int file) {
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = read(file, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  return text;
}

[[noreturn]] void be_child(const std::vector<std::string>& asked, int answer) {
  alarm(phases_seconds_max);
  const std::string text = phases_text(asked);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t done = write(answer, text.data() + written, text.size() - written);
    if (done <= 0) _exit(1);
    written += static_cast<std::size_t>(done);
  }
  _exit(0);  // driver threads may still run; do not wait for them
}

// --- three ways ------------------------------------------------------------------------------

// Seconds of each call, for at least three calls and at least `seconds`.
Result<bench::Samples> repeat(const std::function<Status()>& work, double seconds) {
  CALPE_CHECK(work());
  bench::Samples samples;
  const double deadline = seconds_now(Clock::wall) + seconds;
  while (samples.size() < 3 || seconds_now(Clock::wall) < deadline) {
    const double start = seconds_now(Clock::wall);
    CALPE_CHECK(work());
    samples.push_back(seconds_now(Clock::wall) - start);
  }
  return samples;
}

Json way_json(std::string_view way, const bench::Samples& samples) {
  const double best = bench::quantile(samples, 0);
  const double median = bench::quantile(samples, 0.5);
  return {{"operation", "encode"},
          {"way", way},
          {"data_shards", rate_data},
          {"parity_shards", rate_parity},
          {"shard_bytes", shard_bytes},
          {"calls", samples.size()},
          {"bytes", data_bytes},
          {"bytes_counted", fmt::format("{} data shards x {} bytes", rate_data, shard_bytes)},
          {"seconds", bench::rounded(best)},
          {"seconds_median", bench::rounded(median)},
          {"seconds_p10", bench::rounded(bench::quantile(samples, 0.1))},
          {"seconds_p90", bench::rounded(bench::quantile(samples, 0.9))},
          {"gb_per_s", bench::rounded(static_cast<double>(data_bytes) / best / 1e9)},
          {"gb_per_s_median", bench::rounded(static_cast<double>(data_bytes) / median / 1e9)}};
}

Result<Json> ways_of(const std::string& device, double seconds) {
  const WaitCompile wait(true);
  CALPE_TRY(const Codec codec, codec_on(device));
  std::vector<std::byte> host(stripe_bytes);
  bench::fill_random(host, 1);
  const Shards in_host = shards_of(host);
  Json rows = Json::array();
  CALPE_TRY(const bench::Samples total,
            repeat([&] { return codec.encode(in_host.data, in_host.parity); }, seconds));
  rows.push_back(way_json("host memory", total));
  if (codec.runs_on_caller()) return rows;  // it uses host memory, so there are no transfers
  CALPE_TRY(const DeviceMemory memory, DeviceMemory::allocate(codec, stripe_bytes));
  const std::span<const std::byte> data = std::span<const std::byte>(host).first(data_bytes);
  CALPE_CHECK(memory.write(0, data));
  const Shards on_device = shards_of(memory.shard(0, stripe_bytes));
  CALPE_TRY(const bench::Samples kernel,
            repeat([&] { return codec.encode(on_device.data, on_device.parity); }, seconds));
  rows.push_back(way_json("device memory", kernel));
  CALPE_TRY(const bench::Samples transfers,
            repeat(
                [&]() -> Status {
                  CALPE_CHECK(memory.write(0, data));
                  return memory.read(data_bytes, std::span(host).last(parity_bytes));
                },
                seconds));
  rows.push_back(way_json("transfers alone", transfers));
  return rows;
}

}  // namespace

Result<std::vector<std::string>> devices_asked_for(const std::vector<std::string>& asked) {
  std::vector<std::string> names;
  std::vector<std::string> known;
  const bool is_all = std::find(asked.begin(), asked.end(), "all") != asked.end();
  for (const BackendInfo& backend : list_backends()) {
    known.push_back(backend.name);
    // The grid measures CPU paths; the speed of the reference is irrelevant.
    const bool is_device =
        backend.available && why_no_rate(backend).empty() && backend.name != "reference" &&
        (backend.name.find(':') == std::string::npos || backend.name.rfind("opencl", 0) == 0 ||
         backend.name.rfind("cuda", 0) == 0 || backend.name.rfind("vulkan", 0) == 0);
    if (is_all && is_device) names.push_back(backend.name);
  }
  for (const std::string& name : asked) {
    if (name == "all") continue;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return invalid("--devices is \"", name,
                     "\"; expected all, or a name listed by `calpe devices`");
    }
    names.push_back(name);
  }
  return names;
}

Json measure_phases(const std::vector<std::string>& asked) {
  Json section = {
      {"title", "First use of a device, phase by phase"},
      {"note",
       "wall time in a separate process; platform: probing all backends and opening this one; "
       "compile: kernels, with an empty cache; then one encode of 10+4 with 1 MiB shards. "
       "Without a driver, transfers are copies within host memory and include page faults"}};
  int answer[2];
  if (pipe(answer) != 0) {
    section["status"] = "not measured";
    section["reason"] = "cannot create a pipe to a child process";
    return section;
  }
  const pid_t child = fork();
  if (child == 0) be_child(asked, answer[1]);
  close(answer[1]);
  const std::string text = child < 0 ? "" : read_all(answer[0]);
  close(answer[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  Json rows = Json::parse(text, nullptr, false);
  if (rows.is_discarded()) {
    section["status"] = "not measured";
    section["reason"] = "the measuring process ended early";
    return section;
  }
  section["rows"] = std::move(rows);
  return section;
}

Json measure_devices(const std::vector<std::string>& devices, const BenchExtent& extent) {
  Json section = {{"title", "Backends and devices: host memory, device memory, transfers alone"},
                  {"rows", Json::array()}};
  for (const std::string& device : devices) {
    extent.on_progress("device " + device);
    auto rows = ways_of(device, extent.seconds(0.3, 3));
    if (!rows) {
      section["rows"].push_back(
          {{"device", device}, {"status", "not measured"}, {"reason", rows.error().message}});
      continue;
    }
    for (Json& row : *rows) {
      row["device"] = device;
      row["layout"] = layout_of(device) == Layout::bytes ? "bytes" : "packets";
      section["rows"].push_back(std::move(row));
    }
  }
  return section;
}

}  // namespace calpe::tools
