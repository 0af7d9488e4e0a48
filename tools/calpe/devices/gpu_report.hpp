// SPDX-License-Identifier: Apache-2.0
// The file that `calpe selftest --report` writes: machine, devices, checks, and measured next to
// predicted rates. Rewritten before each step, so that it names the step during which a driver or
// the machine crashed.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include <calpe/result.hpp>

#include "calpe/predict/gpu_file.hpp"

namespace calpe::tools {

class GpuReport {
 public:
  // Writes the first state, so that an unusable path is an error before any test.
  static Result<GpuReport> create(std::string path);

  // The step that is running; "" when all are done.
  Status start(std::string_view step);
  nlohmann::ordered_json& json() noexcept { return json_; }

 private:
  explicit GpuReport(std::string path) : path_(std::move(path)) {}
  Status write() const;

  std::string path_;
  nlohmann::ordered_json json_;
};

struct GpuReportOptions {
  std::string backend;
  std::string description;  // of the device
  std::string predict;      // file with the description of the GPU; "": find it by its name
  bool is_small = false;    // small jobs, for backends that are not GPUs
  bool measures = true;
  bool plant_error = false;
};

// Adds the checks of gpu_checks.hpp and the rates of gpu_rates.hpp to `device`, an entry that is
// already in the report. Returns whether all checks passed.
Result<bool> report_device(GpuReport& report, std::size_t device, const GpuReportOptions& options);

}  // namespace calpe::tools
