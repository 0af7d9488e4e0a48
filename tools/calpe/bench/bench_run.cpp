// SPDX-License-Identifier: Apache-2.0
#include "calpe/bench/bench_run.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <thread>

#include <calpe/codec.hpp>

#include "base/byte_count.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "bench/harness/energy.hpp"
#include "bench/harness/report_json.hpp"
#include "calpe/bench/bench_devices.hpp"
#include "calpe/bench/bench_equations.hpp"
#include "calpe/bench/bench_predictions.hpp"
#include "calpe/predict/known_gpus.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* special_sections[] = {"latency",     "xors",   "emitted",
                                            "devices",     "phases", "energy",
                                            "predictions", "excess", "bank-conflicts"};

unsigned cpu_count() {
  return std::max(1U, std::thread::hardware_concurrency());
}

std::string key_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Json not_measured(std::string_view title, const std::string& reason) {
  return {{"title", title}, {"status", "not measured"}, {"reason", reason}};
}

Result<Json> run_grid_section(const bench::Section& section, const BenchExtent& extent,
                              std::span<const bench::NamedPeer> peers) {
  Json json = {{"title", section.title}, {"rows", Json::array()}};
  for (const bench::SectionGrid& each : section.grids) {
    bench::GridOptions options = each.options;
    options.seconds *= extent.time_scale;
    options.rounds = extent.rounds;
    bench::GridObserver observer;
    observer.on_progress = [&](const bench::Progress& progress) {
      extent.on_progress(fmt::format("{}: {}", section.name, progress.what));
    };
    auto report = bench::run_grid(
        options, each.has_peers ? peers : std::span<const bench::NamedPeer>(), observer);
    // Record cells that the profile refuses or that do not fit in memory.
    if (!report) {
      if (report.error().code == ErrorCode::corrupt) return std::move(report).error();
      json["skipped"].push_back(report.error().message);
      continue;
    }
    for (const bench::Row& row : report->rows)
      json["rows"].push_back(bench::row_json(*report, row));
    for (const bench::SkippedCell& cell : report->skipped)
      json["skipped"].push_back(cell.reason);
  }
  return json;
}

Json latency_json(const bench::LatencyRow& row) {
  const bench::Latency& latency = row.latency;
  const auto microseconds = [](double seconds) { return bench::rounded(seconds * 1e6); };
  Json json = {{"operation", "encode"},
               {"coder", row.name},
               {"method", row.method},
               {"data_shards", row.cell.shape.data_shards},
               {"parity_shards", row.cell.shape.parity_shards},
               {"shard_bytes", row.cell.shard_bytes},
               {"clock", "wall"},
               {"calls", latency.calls},
               {"best_us", microseconds(latency.best)},
               {"p50_us", microseconds(latency.p50)},
               {"p90_us", microseconds(latency.p90)},
               {"p99_us", microseconds(latency.p99)},
               {"p999_us", latency.p999 > 0 ? Json(microseconds(latency.p999)) : Json()},
               {"worst_us", microseconds(latency.worst)}};
  json["cdf"] = Json::array();
  for (const auto& [seconds, fraction] : latency.cdf)
    json["cdf"].push_back({microseconds(seconds), fraction});
  return json;
}

Result<Json> run_latency_section(const BenchExtent& extent,
                                 std::span<const bench::NamedPeer> peers) {
  Json json = {{"title", "Latency of single calls"},
               {"note", "wall time of single encodes; the first of every 32 calls is not counted"},
               {"rows", Json::array()}};
  for (bench::LatencyCell cell : bench::latency_cells(extent.extent)) {
    extent.on_progress(fmt::format("latency of {}", bytes_to_text(cell.shard_bytes)));
    cell.seconds *= extent.time_scale;
    CALPE_TRY(const std::vector<bench::LatencyRow> rows, bench::run_latency(cell, peers));
    for (const bench::LatencyRow& row : rows)
      json["rows"].push_back(latency_json(row));
  }
  return json;
}

// Joules of all packages while one core encodes. Includes other work on the machine.
Json measure_energy(const BenchExtent& extent) {
  constexpr std::string_view title = "Energy per GB of data";
  auto counters = bench::EnergyCounters::open();
  if (!counters) return not_measured(title, counters.error().message);
  constexpr std::size_t shard_bytes = 64 * 1024;
  const auto codec = Codec::create({.data_shards = 10, .parity_shards = 4});
  auto stripes = bench::StripeBuffers::create({10, 4}, shard_bytes);
  if (!codec || !stripes) return not_measured(title, "out of memory");
  std::vector<ConstShard> data;
  std::vector<Shard> parity;
  for (std::byte* const shard : stripes->view().data())
    data.emplace_back(shard, shard_bytes);
  for (std::byte* const shard : stripes->view().parity())
    parity.emplace_back(shard, shard_bytes);
  std::size_t bytes = 0;
  static_cast<void>(counters->joules());
  const double start = bench::seconds_now(bench::Clock::wall);
  const double deadline = start + extent.seconds(1, 10);
  do {
    if (auto done = codec->encode(data, parity); !done)
      return not_measured(title, done.error().message);
    bytes += data.size() * shard_bytes;
  } while (bench::seconds_now(bench::Clock::wall) < deadline);
  const double seconds = bench::seconds_now(bench::Clock::wall) - start;
  const auto joules = counters->joules();
  if (!joules) return not_measured(title, joules.error().message);
  return {{"title", title},
          {"counter", "intel-rapl, all packages, including other work"},
          {"packages", counters->count()},
          {"bytes", bytes},
          {"seconds", seconds},
          {"gb_per_s", bench::rounded(static_cast<double>(bytes) / seconds / 1e9)},
          {"joules", bench::rounded(*joules)},
          {"joules_per_gb", bench::rounded(*joules / static_cast<double>(bytes) * 1e9)}};
}

Result<std::vector<GpuDescription>> gpus_of(const SectionRequest& request) {
  if (request.gpus.empty()) return known_gpus();
  std::vector<GpuDescription> gpus;
  for (const std::string& path : request.gpus) {
    CALPE_TRY(GpuDescription gpu, read_gpu_file(path));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

Result<Json> run_device_section(const SectionRequest& request) {
  if (request.devices.empty())
    return not_measured("Backends and devices", "not requested; use --devices all");
  CALPE_TRY(const std::vector<std::string> devices, devices_asked_for(request.devices));
  return measure_devices(devices, request.extent);
}

Result<Json> run_special(const std::string& name, const SectionRequest& request,
                         std::span<const bench::NamedPeer> peers) {
  const BenchExtent& extent = request.extent;
  if (name == "latency") return run_latency_section(extent, peers);
  if (name == "xors") return count_xors(extent);
  if (name == "emitted") return measure_emitted(extent);
  if (name == "devices") return run_device_section(request);
  if (name == "energy") return measure_energy(extent);
  if (name == "bank-conflicts") return bank_conflict_rows(extent);
  CALPE_TRY(const std::vector<GpuDescription> gpus, gpus_of(request));
  return name == "excess" ? predict_excess(gpus, extent) : predict_rates(gpus, extent);
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const bench::Section& section : bench::grid_sections(bench::Extent::quick, 1))
    names.push_back(section.name);
  names.insert(names.end(), std::begin(special_sections), std::end(special_sections));
  return names;
}

Result<std::vector<std::string>> sections_asked_for(const std::vector<std::string>& asked) {
  const std::vector<std::string> known = section_names();
  if (has(asked, "all")) return known;
  std::vector<std::string> names;
  for (const std::string& name : asked) {
    if (name == "none") continue;
    if (!has(known, name)) {
      return invalid("--section is \"", name, "\"; expected all, none, ",
                     fmt::format("{}", fmt::join(known, ", ")));
    }
    names.push_back(name);
  }
  return names;
}

double planned_seconds(const SectionRequest& request) {
  double seconds = 0;
  for (const bench::Section& section : bench::grid_sections(request.extent.extent, cpu_count())) {
    for (const bench::SectionGrid& grid : section.grids)
      seconds += has(request.names, section.name) ? grid.options.seconds : 0;
  }
  // All other sections together.
  return request.extent.time_scale * (seconds + (request.extent.is_full() ? 90 : 12));
}

Json run_first_section(const SectionRequest& request) {
  if (!has(request.names, "phases")) return Json::object();
  if (request.devices.empty()) {
    return {{"phases", not_measured("First use of a device, phase by phase",
                                    "not requested; use --devices all")}};
  }
  request.extent.on_progress("first use of devices");
  return {{"phases", measure_phases(request.devices)}};
}

Result<Json> run_sections(const SectionRequest& request, std::span<const bench::NamedPeer> peers) {
  Json sections = Json::object();
  const auto grids = bench::grid_sections(request.extent.extent, cpu_count());
  for (const std::string& name : section_names()) {
    if (!has(request.names, name) || name == "phases") continue;
    const auto grid = std::find_if(grids.begin(), grids.end(),
                                   [&](const bench::Section& each) { return each.name == name; });
    CALPE_TRY(sections[key_of(name)], grid == grids.end()
                                          ? run_special(name, request, peers)
                                          : run_grid_section(*grid, request.extent, peers));
  }
  return sections;
}

}  // namespace calpe::tools
