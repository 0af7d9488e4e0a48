// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include <calpe/codec.hpp>

#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/devices/backend_rate.hpp"
#include "calpe/predict/prediction_report.hpp"
#include "calpe/verbs.hpp"

namespace calpe::tools {

namespace {

constexpr double rate_seconds = 0.05;  // per layout

struct DevicesArguments {
  bool json = false;
  bool no_rates = false;
  std::string predict;
  PredictedCodes codes;
};

struct Rates {
  std::optional<double> bytes;
  std::optional<double> packets;
  std::string problem;  // why there is no rate
};

Rates measure(const BackendInfo& backend) {
  Rates rates;
  rates.problem = why_no_rate(backend);
  if (!rates.problem.empty()) return rates;
  const Progress progress("measuring " + backend.name + " (may compile first)");
  for (const Layout layout : {Layout::bytes, Layout::packets}) {
    const Result<double> rate = encode_rate(backend.name, layout, rate_seconds);
    if (!rate) {
      rates.problem = rate.error().message;
      return rates;
    }
    (layout == Layout::bytes ? rates.bytes : rates.packets) = *rate;
  }
  return rates;
}

std::string cell(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.1f}", *rate) : "-";
}

nlohmann::ordered_json to_json(const BackendInfo& backend, const Rates& rates) {
  const auto number = [](const std::optional<double>& rate) {
    return rate ? nlohmann::ordered_json(*rate) : nlohmann::ordered_json(nullptr);
  };
  return {{"name", backend.name},
          {"description", backend.description},
          {"available", backend.available},
          {"reason", backend.reason},
          {"gb_per_s", number(rates.bytes)},
          {"gb_per_s_packets", number(rates.packets)},
          {"rate_problem", rates.problem}};
}

void print_row(const BackendInfo& backend, const Rates& rates) {
  const std::string& text = backend.available ? backend.description : backend.reason;
  fmt::print("{:<18} {:<10} {:>6} {:>8}  {}{}{}\n", backend.name, backend.available ? "yes" : "no",
             cell(rates.bytes), cell(rates.packets), text, rates.problem.empty() ? "" : "; ",
             rates.problem);
}

void list_devices(const DevicesArguments& arguments) {
  auto list = nlohmann::ordered_json::array();
  if (!arguments.json) {
    fmt::print("{:<18} {:<10} {:>6} {:>8}  {}\n", "NAME", "AVAILABLE", "BYTES", "PACKETS",
               "DESCRIPTION");
  }
  Progress progress("listing backends");
  for (const BackendInfo& backend : list_backends()) {
    progress.say(fmt::format("measuring {}", backend.name));
    const bool is_measured = backend.available && !arguments.no_rates;
    const Rates rates = is_measured ? measure(backend) : Rates{};
    progress.clear();
    if (arguments.json) {
      list.push_back(to_json(backend, rates));
    } else {
      print_row(backend, rates);
    }
  }
  if (arguments.json) {
    fmt::print("{}\n", list.dump(2));
  } else if (!arguments.no_rates) {
    fmt::print(
        "BYTES, PACKETS: encode rate in GB/s of data for each layout: 10+4, shards of 1 MiB, ");
    fmt::print(
        "one thread, copies included.\nThis is a quick estimate; use calpe bench to measure.\n");
  }
}

Status predict_gpu(const DevicesArguments& arguments) {
  CALPE_TRY(const GpuDescription gpu, read_gpu_file(arguments.predict));
  CALPE_TRY(const std::vector<PredictedRow> rows, predict_codes(gpu, arguments.codes));
  if (arguments.json) {
    fmt::print("{}\n", to_json(gpu, rows).dump(2));
  } else {
    print_predictions(gpu, rows);
  }
  return Done{};
}

int run(const DevicesArguments& arguments) {
  if (arguments.predict.empty()) {
    list_devices(arguments);
    return 0;
  }
  const Status done = predict_gpu(arguments);
  if (done) return 0;
  fmt::print(stderr, "calpe devices: {}\n", done.error().message);
  return exit_code_of(done.error().code);
}

}  // namespace

void add_devices_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<DevicesArguments>();
  CLI::App* const devices = app.add_subcommand(
      "devices", "List the backends and their speed, or predict the speed of a GPU");
  devices->footer(
      "Exit codes: 0 done, 3 wrong usage, 4 the file cannot be read.\n"
      "Example: calpe devices\n"
      "Example: CALPE_CPU=avx2 calpe devices\n"
      "Example: calpe devices --predict examples/gpus/h100.gpu --shape 10+4\n"
      "See calpe-devices(1) and docs/devices.md.");
  CLI::Option* const no_rates = devices->add_flag("--no-rates", arguments->no_rates,
                                                  "List the backends without measuring them");
  CLI::Option* const predict =
      devices
          ->add_option("--predict", arguments->predict,
                       "Description of a GPU; rates are calculated, not measured")
          ->type_name("FILE")
          ->excludes(no_rates);
  devices
      ->add_option("--shape", arguments->codes.shapes,
                   "Code to predict, repeatable (default: 10+4, 16+16, 223+32)")
      ->type_name("K+M")
      ->allow_extra_args(false)
      ->needs(predict);
  devices->add_option("--profile", arguments->codes.profile, "Profile of the codes to predict")
      ->type_name("PROFILE")
      ->capture_default_str()
      ->needs(predict);
  devices
      ->add_option("--word-bits", arguments->codes.word_bits,
                   "Word bits of predicted packets codes (default: 8)")
      ->check(CLI::Range(2U, 8U))
      ->needs(predict);
  devices->add_flag("--json", arguments->json, "Print JSON");
  devices->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace calpe::tools
