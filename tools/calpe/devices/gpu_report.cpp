// SPDX-License-Identifier: Apache-2.0
#include "calpe/devices/gpu_report.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fstream>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

#include <calpe/calpe.h>
#include <calpe/codec.hpp>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/devices/backend_rate.hpp"
#include "calpe/devices/gpu_checks.hpp"
#include "calpe/devices/gpu_rates.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr int report_version = 1;

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

bool is_about_devices(std::string_view name) {
  for (const std::string_view prefix : {"CALPE_", "OCL_", "POCL_", "RUSTICL_", "CUDA_", "NVIDIA_",
                                        "ROCR_", "HSA_", "GPU_", "VK_", "MESA_", "LP_"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

// Variables that change what runs. Directories can name people, so only the last part of a path is
// kept.
Json environment_json() {
  Json json = Json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || !is_about_devices(line.substr(0, equals))) continue;
    const std::string_view value = line.substr(equals + 1);
    const std::size_t slash = value.rfind('/');
    json[std::string(line.substr(0, equals))] =
        std::string(slash == std::string_view::npos ? value : value.substr(slash + 1));
  }
  return json;
}

Json machine_json() {
  utsname name = {};
  static_cast<void>(uname(&name));
  return {{"system", name.sysname},
          {"kernel", name.release},
          {"architecture", name.machine},
          {"cpu", cpu_name()},
          {"cpu_threads", std::thread::hardware_concurrency()}};
}

Json backends_json() {
  Json list = Json::array();
  for (const BackendInfo& backend : list_backends()) {
    list.push_back({{"name", backend.name},
                    {"description", backend.description},
                    {"available", backend.available},
                    {"reason", backend.reason}});
  }
  return list;
}

Json check_json(const GpuCheck& check) {
  return {
      {"name", check.name},         {"shows", check.shows},     {"passed", check.failures.empty()},
      {"failures", check.failures}, {"remarks", check.remarks}, {"seconds", check.seconds}};
}

Result<std::optional<GpuDescription>> describe_gpu(const GpuReportOptions& options) {
  if (options.predict.empty()) return find_known_gpu(options.description);
  CALPE_TRY(GpuDescription gpu, read_gpu_file(options.predict));
  return std::optional(std::move(gpu));
}

Status add_rates(Json& entry, const GpuReportOptions& options) {
  CALPE_TRY(const std::optional<GpuDescription> gpu, describe_gpu(options));
  // Without a description, only the counts of instructions are used.
  CALPE_TRY(const std::vector<PredictedRow> rows,
            predict_codes(gpu.value_or(GpuDescription{}), gpu_rate_codes()));
  entry["predicted_for"] = gpu ? Json(gpu->name) : Json(nullptr);
  entry["call"] = measure_call(options.backend);
  entry["measured"] = measure_gpu(options.backend, rows, gpu.has_value());
  return Done{};
}

}  // namespace

Result<GpuReport> GpuReport::create(std::string path) {
  GpuReport report(std::move(path));
  report.json_ = {
      {"report", "calpe selftest"},
      {"version", report_version},
      {"calpe", calpe_version_string()},
      {"compiler", __VERSION__},
      {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()))},
      {"machine", machine_json()},
      {"environment", environment_json()},
      {"available", backends_json()},
      {"running", "start"},
      {"passed", nullptr},
      {"devices", Json::array()}};
  CALPE_CHECK(report.write());
  return report;
}

Status GpuReport::start(std::string_view step) {
  json_["running"] = step;
  return write();
}

Status GpuReport::write() const {
  const std::string temporary = path_ + ".tmp";
  std::FILE* const file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) {
    return make_error(ErrorCode::io, "--report ", path_, ": cannot write: ", std::strerror(errno));
  }
  const std::string text = json_.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  bool is_good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  is_good = std::fflush(file) == 0 && fsync(fileno(file)) == 0 && is_good;
  is_good = std::fclose(file) == 0 && is_good;
  if (is_good && std::rename(temporary.c_str(), path_.c_str()) == 0) return Done{};
  const int error = errno;
  static_cast<void>(std::remove(temporary.c_str()));
  return make_error(ErrorCode::io, "--report ", path_, ": cannot write: ", std::strerror(error));
}

Result<bool> report_device(GpuReport& report, std::size_t device, const GpuReportOptions& options) {
  const BackendInfo named{options.backend, options.description, true, ""};
  const bool is_stand_in = !why_no_rate(named).empty();
  bool is_good = true;
  Status written = Done{};
  const std::vector<GpuCheck> checks =
      check_gpu({.backend = options.backend,
                 .is_small = options.is_small || is_stand_in,
                 .plant_error = options.plant_error},
                [&](std::string_view name) {
                  if (written) written = report.start(fmt::format("{}: {}", options.backend, name));
                });
  CALPE_CHECK(written);
  Json& entry = report.json()["devices"][device];
  entry["checks_of_device"] = Json::array();
  for (const GpuCheck& check : checks) {
    is_good = is_good && check.failures.empty();
    entry["checks_of_device"].push_back(check_json(check));
  }
  entry["passed"] = entry["passed"].get<bool>() && is_good;
  if (is_good && options.measures && !is_stand_in) {
    CALPE_CHECK(report.start(options.backend + ": rates"));
    CALPE_CHECK(add_rates(entry, options));
  }
  return is_good;
}

}  // namespace calpe::tools
