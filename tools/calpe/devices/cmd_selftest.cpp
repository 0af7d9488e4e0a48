// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include <calpe/techniques.hpp>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/devices/backend_rate.hpp"
#include "calpe/devices/gpu_report.hpp"
#include "calpe/devices/selftest_trial.hpp"
#include "calpe/predict/prediction_report.hpp"
#include "calpe/verbs.hpp"

namespace calpe::tools {

namespace {

constexpr double rate_seconds = 0.2;

struct SelftestArguments {
  bool gpu = false;
  bool json = false;
  bool no_rates = false;
  bool plant_error = false;
  std::string backend;
  std::string predict;
  std::string report;
};

// A measured and a predicted rate.
struct RateLine {
  Layout layout = Layout::bytes;
  Place place = Place::host_memory;
  std::optional<double> measured = {};
  std::optional<Bound> predicted = {};
  std::string problem = {};
};

struct BackendReport {
  BackendInfo backend;
  std::size_t checks = 0;
  std::vector<std::string> failures = {};
  std::vector<std::string> remarks = {};
  std::vector<RateLine> rates = {};
  std::size_t device_checks = 0;  // of --report; their failures are above
};

bool is_of(std::string_view name, std::string_view family) {
  return name.starts_with(family) && (name.size() == family.size() || name[family.size()] == ':');
}

bool is_gpu(const BackendInfo& backend) {
  return is_of(backend.name, "opencl") || is_of(backend.name, "cuda") ||
         is_of(backend.name, "vulkan");
}

// Backends that compile in the background while a fallback serves.
bool compiles_beside(const BackendInfo& backend) {
  return is_gpu(backend) || is_of(backend.name, "openmp");
}

// Unlisted names such as "opencl:0+cpu" may still open.
Result<BackendInfo> named_backend(const std::string& name) {
  for (const BackendInfo& backend : list_backends()) {
    if (backend.name != name) continue;
    if (backend.available) return backend;
    return make_error(ErrorCode::backend_unavailable, name, ": ", backend.reason);
  }
  CALPE_TRY(const Codec codec,
            Codec::create({.data_shards = 3, .parity_shards = 2}, {.backend = name}));
  return BackendInfo{name, std::string(codec.backend()), true, ""};
}

Result<std::vector<BackendInfo>> chosen_backends(const SelftestArguments& arguments) {
  if (!arguments.backend.empty()) {
    CALPE_TRY(BackendInfo backend, named_backend(arguments.backend));
    return std::vector{std::move(backend)};
  }
  std::vector<BackendInfo> chosen;
  std::string reasons;
  for (const BackendInfo& backend : list_backends()) {
    if (arguments.gpu && !is_gpu(backend)) continue;
    if (!backend.available) {
      reasons += text(reasons.empty() ? "" : "; ", backend.name, ": ", backend.reason);
    } else if (backend.name != "reference") {  // the others are compared with it
      chosen.push_back(backend);
    }
  }
  if (chosen.empty()) {
    return make_error(ErrorCode::backend_unavailable,
                      arguments.gpu ? "no GPU is available: " : "no backend is available: ",
                      reasons.empty() ? "this build has none" : reasons);
  }
  return chosen;
}

Status try_all(const SelftestArguments& arguments, Progress& progress, BackendReport& report) {
  const auto run = [&](bool waits, bool every_small_loss) -> Status {
    TrialOptions options{.backend = report.backend.name,
                         .waits = waits,
                         .every_small_loss = every_small_loss,
                         .plant_error = arguments.plant_error};
    options.on_progress = [&](const std::string& what) {
      progress.say(fmt::format("{}: {}{}", report.backend.name, what, waits ? ", compiled" : ""));
    };
    CALPE_TRY(TrialResult result, try_backend(options));
    report.checks += result.checks;
    report.failures.insert(report.failures.end(), result.failures.begin(), result.failures.end());
    report.remarks.insert(report.remarks.end(), result.remarks.begin(), result.remarks.end());
    return Done{};
  };
  CALPE_CHECK(run(false, true));
  // Compiling a kernel for every small loss can take a minute, so only --gpu does it.
  if (compiles_beside(report.backend)) CALPE_CHECK(run(true, arguments.gpu));
  return Done{};
}

RateLine measure(const BackendInfo& backend, Layout layout, Place place) {
  RateLine line{.layout = layout, .place = place};
  line.problem = why_no_rate(backend);
  if (!line.problem.empty()) return line;
  const Result<double> rate = encode_rate(backend.name, layout, rate_seconds, place);
  if (rate) {
    line.measured = *rate;
  } else {
    line.problem = rate.error().message;
  }
  return line;
}

std::vector<RateLine> measure(const BackendInfo& backend, const std::vector<PredictedRow>& rows) {
  std::vector<RateLine> lines;
  for (const Layout layout : {Layout::bytes, Layout::packets}) {
    for (const Place place : {Place::host_memory, Place::device_memory}) {
      if (place == Place::device_memory && !is_gpu(backend)) continue;
      lines.push_back(measure(backend, layout, place));
      for (const PredictedRow& row : rows) {
        if (row.spec.layout != layout) continue;
        lines.back().predicted =
            place == Place::host_memory ? row.prediction.host : row.prediction.device;
      }
    }
  }
  return lines;
}

std::string_view name_of(Layout layout) {
  return layout == Layout::bytes ? "bytes" : "packets";
}

std::string_view name_of(Place place) {
  return place == Place::host_memory ? "host" : "device";
}

void print_report(const BackendReport& report) {
  fmt::print(
      "{:<18} {} checks{}, {}\n", report.backend.name, report.checks,
      report.device_checks == 0 ? "" : fmt::format(" and {} of large work", report.device_checks),
      report.failures.empty() ? "all passed" : "WRONG");
  for (const std::string& failure : report.failures)
    fmt::print("  {}\n", failure);
  for (const std::string& remark : report.remarks)
    fmt::print("  remark: {}\n", remark);
  for (const RateLine& line : report.rates) {
    fmt::print("  {:<8} from {:<7} {}", name_of(line.layout), name_of(line.place),
               line.measured ? fmt::format("{:.1f} GB/s measured", *line.measured) : line.problem);
    if (line.predicted) {
      fmt::print(", {:.1f} GB/s by {} ({})", line.predicted->gb_per_s, line.predicted->unit,
                 prediction_note);
    }
    fmt::print("\n");
  }
}

nlohmann::ordered_json to_json(const BackendReport& report) {
  nlohmann::ordered_json json = {
      {"name", report.backend.name}, {"description", report.backend.description},
      {"checks", report.checks},     {"passed", report.failures.empty()},
      {"failures", report.failures}, {"remarks", report.remarks}};
  json["rates"] = nlohmann::ordered_json::array();
  for (const RateLine& line : report.rates) {
    nlohmann::ordered_json entry = {{"layout", name_of(line.layout)},
                                    {"memory", name_of(line.place)},
                                    {"problem", line.problem}};
    entry["gb_per_s"] = nullptr;
    if (line.measured) entry["gb_per_s"] = *line.measured;
    if (line.predicted) {
      entry["predicted_gb_per_s"] = line.predicted->gb_per_s;
      entry["predicted_limit"] = line.predicted->unit;
      entry["note"] = prediction_note;
    }
    json["rates"].push_back(std::move(entry));
  }
  return json;
}

// Kernel techniques of this build, and those left out of it.
nlohmann::ordered_json techniques_json() {
  auto list = nlohmann::ordered_json::array();
  for (const TechniqueInfo& technique : list_techniques()) {
    list.push_back({{"name", technique.name},
                    {"description", technique.description},
                    {"built", technique.built}});
  }
  return list;
}

void print_techniques() {
  std::string built;
  std::string left_out;
  for (const TechniqueInfo& technique : list_techniques()) {
    std::string& list = technique.built ? built : left_out;
    list += text(list.empty() ? "" : ", ", technique.name);
  }
  const auto or_none = [](const std::string& list) { return list.empty() ? "none" : list.c_str(); };
  fmt::print("techniques: {}; left out of this build: {}\n", or_none(built), or_none(left_out));
}

// The part of --report after the checks that every selftest makes.
Status add_to_file(const SelftestArguments& arguments, Progress& progress, GpuReport& file,
                   BackendReport& report) {
  nlohmann::ordered_json& devices = file.json()["devices"];
  devices.push_back(to_json(report));
  const std::size_t index = devices.size() - 1;
  progress.say(fmt::format("{}: large work and rates, for the report", report.backend.name));
  CALPE_TRY(const bool is_good,
            report_device(file, index,
                          {.backend = report.backend.name,
                           .description = report.backend.description,
                           .predict = arguments.predict,
                           .is_small = !is_gpu(report.backend),
                           .measures = !arguments.no_rates && report.failures.empty(),
                           .plant_error = arguments.plant_error}));
  for (const nlohmann::ordered_json& check : file.json()["devices"][index]["checks_of_device"]) {
    ++report.device_checks;
    for (const nlohmann::ordered_json& failure : check["failures"]) {
      report.failures.push_back(
          text(check["name"].get<std::string>(), ": ", failure.get<std::string>()));
    }
  }
  CALPE_ASSERT(is_good || !report.failures.empty());
  return Done{};
}

Result<std::optional<GpuReport>> create_file(const SelftestArguments& arguments) {
  if (arguments.report.empty()) return std::optional<GpuReport>();
  if (!arguments.gpu && arguments.backend.empty()) {
    return invalid("--report needs --gpu or --backend");
  }
  CALPE_TRY(GpuReport file, GpuReport::create(arguments.report));
  return std::optional(std::move(file));
}

Result<bool> run_selftest(const SelftestArguments& arguments) {
  std::vector<PredictedRow> rows;
  if (!arguments.predict.empty()) {
    CALPE_TRY(const GpuDescription gpu, read_gpu_file(arguments.predict));
    CALPE_TRY(rows, predict_codes(gpu, {.shapes = {"10+4"}, .profile = "hybrid"}));
  }
  CALPE_TRY(const std::vector<BackendInfo> backends, chosen_backends(arguments));
  CALPE_TRY(std::optional<GpuReport> file, create_file(arguments));
  Progress progress("starting");
  bool is_good = true;
  auto list = nlohmann::ordered_json::array();
  if (!arguments.json) print_techniques();
  for (const BackendInfo& backend : backends) {
    BackendReport report{.backend = backend};
    if (file) CALPE_CHECK(file->start(backend.name + ": self-test"));
    if (const Status done = try_all(arguments, progress, report); !done)
      report.failures.push_back(done.error().message);
    // Do not measure a backend that computes wrong bytes.
    if (!arguments.no_rates && report.failures.empty()) report.rates = measure(backend, rows);
    if (file) CALPE_CHECK(add_to_file(arguments, progress, *file, report));
    is_good = is_good && report.failures.empty();
    progress.clear();
    if (arguments.json) {
      list.push_back(to_json(report));
    } else {
      print_report(report);
    }
  }
  if (file) {
    file->json()["passed"] = is_good;
    CALPE_CHECK(file->start(""));
  }
  if (arguments.json) {
    const nlohmann::ordered_json json = {
        {"passed", is_good}, {"techniques", techniques_json()}, {"backends", list}};
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}\n", is_good ? "all passed" : "FAILED: do not use the backends marked WRONG");
    if (file) fmt::print("report: {}; please send it to us (docs/devices.md)\n", arguments.report);
  }
  return is_good;
}

int run(const SelftestArguments& arguments) {
  const Result<bool> is_good = run_selftest(arguments);
  if (is_good) return *is_good ? exit_ok : exit_not_ok;
  fmt::print(stderr, "calpe selftest: {}\n", is_good.error().message);
  return exit_code_of(is_good.error().code);
}

}  // namespace

void add_selftest_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<SelftestArguments>();
  CLI::App* const command = app.add_subcommand(
      "selftest", "Check every backend against the reference and measure its speed");
  command->footer(
      "Exit codes: 0 all passed, 1 a backend is wrong, 3 wrong usage, 4 backend unavailable.\n"
      "Example: calpe selftest --backend cpu\n"
      "Example: calpe selftest --gpu --predict examples/gpus/h100.gpu\n"
      "Example: calpe selftest --gpu --report gpu.json\n"
      "See calpe-selftest(1) and docs/devices.md.");
  CLI::Option* const gpu = command->add_flag(
      "--gpu", arguments->gpu, "Test only opencl and cuda, with kernels for all losses");
  command->add_option("--backend", arguments->backend, "Backend to test (calpe devices lists them)")
      ->type_name("BACKEND")
      ->excludes(gpu);
  command
      ->add_option("--predict", arguments->predict, "Description of this GPU for predicted rates")
      ->type_name("FILE")
      ->needs(gpu);
  command
      ->add_option("--report", arguments->report,
                   "Also test large work, measure many codes, and write all results here")
      ->type_name("FILE");
  command->add_flag("--no-rates", arguments->no_rates, "Skip the speed measurement");
  command->add_flag("--plant-error", arguments->plant_error,
                    "Corrupt one result on purpose; the test must then fail");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace calpe::tools
