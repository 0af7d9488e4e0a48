// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <system_error>

#include "base/byte_count.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/option_types.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/reram/reram_curves.hpp"
#include "calpe/reram/reram_report.hpp"
#include "calpe/verbs.hpp"

namespace calpe::tools {

namespace {

struct ReramArguments {
  unsigned data = 10;
  unsigned parity = 4;
  std::vector<ShardIndex> lose;
  std::string preset = "reraid-fit";
  std::string parameters;  // file
  std::vector<std::string> settings;
  bool print_parameters = false;
  std::string bytes = "8M";
  std::string grid;
  std::string combine = "rewrite";
  std::size_t active_rows = 0;
  std::size_t ssds = 0;
  bool no_xor_mode = false;
  double target_rate = 1e-15;
  double seconds = 0.5;
  bool json = false;
  std::string plot;
};

Result<reram::Parameters> parameters_of(const ReramArguments& arguments) {
  CALPE_TRY(reram::Parameters parameters, arguments.parameters.empty()
                                              ? reram::find_preset(arguments.preset)
                                              : reram::read_parameters_file(arguments.parameters));
  for (const std::string& setting : arguments.settings) {
    if (auto status = set_parameter(parameters, setting); !status)
      return invalid("--set: ", status.error().message);
  }
  return parameters;
}

// "2x3": 2 rows and 3 columns of crossbars.
Result<reram::Grid> parse_grid(const std::string& text) {
  reram::Grid grid;
  if (text.empty()) return grid;
  const char* const end = text.data() + text.size();
  const auto rows = std::from_chars(text.data(), end, grid.rows);
  const bool has_rows = rows.ec == std::errc() && rows.ptr != end && *rows.ptr == 'x';
  const auto columns = has_rows ? std::from_chars(rows.ptr + 1, end, grid.columns) : rows;
  const bool is_good = has_rows && columns.ec == std::errc() && columns.ptr == end &&
                       grid.rows != 0 && grid.columns != 0;
  if (!is_good) return invalid("--grid is \"", text, "\"; expected ROWSxCOLUMNS such as 2x2");
  return grid;
}

Result<ReramRequest> request_of(const ReramArguments& arguments, reram::Parameters parameters) {
  ReramRequest request;
  request.data = arguments.data;
  request.parity = arguments.parity;
  request.lose = arguments.lose;
  request.parameters = std::move(parameters);
  const auto bytes = parse_bytes(arguments.bytes);
  if (!bytes) {
    return invalid("--bytes is \"", arguments.bytes,
                   "\"; expected a number such as 4096, 64K or 8M, at most 2 GiB");
  }
  request.bytes = *bytes;
  CALPE_TRY(request.options.mapping.grid, parse_grid(arguments.grid));
  request.options.mapping.combine =
      arguments.combine == "digital" ? reram::Combine::digital : reram::Combine::rewrite;
  request.options.mapping.active_rows_max = arguments.active_rows;
  request.options.xor_mode = !arguments.no_xor_mode;
  request.options.ssd_count = arguments.ssds;
  request.target_rate = arguments.target_rate;
  return request;
}

// Creates the directory first, so that an error shows before the long computation.
Status make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return Done{};
  return make_error(ErrorCode::io, "cannot create directory ", path,
                    " for --plot: ", error.message());
}

Result<ReramReport> report_on(const ReramArguments& arguments, reram::Parameters parameters) {
  ReramReport report;
  CALPE_TRY(report.request, request_of(arguments, std::move(parameters)));
  if (!arguments.plot.empty()) CALPE_CHECK(make_folder(arguments.plot));
  Progress progress("simulating");
  CALPE_TRY(report.run, run_reram(report.request));
  progress.say("measuring this machine's CPU");
  CALPE_TRY(report.baselines, measure_baselines(report.run, arguments.seconds));
  if (arguments.plot.empty()) return report;
  CALPE_TRY(const ReramPlots plots, compute_plots(report.request, [&](std::string what) {
              progress.say(std::move(what));
            }));
  CALPE_TRY(report.plots, write_plots(arguments.plot, plots));
  return report;
}

// Returns false if bytes are wrong without noise.
Result<bool> simulate_and_print(const ReramArguments& arguments) {
  CALPE_TRY(const reram::Parameters parameters, parameters_of(arguments));
  if (arguments.print_parameters) {
    fmt::print("{}", to_text(parameters));
    return true;
  }
  CALPE_TRY(const ReramReport report, report_on(arguments, parameters));
  if (arguments.json) {
    fmt::print("{}\n", to_json(report).dump(2));
  } else {
    print_table(report);
  }
  const ReramErrors& errors = report.run.errors;
  if (errors.wrong == 0 || report.request.parameters.is_noisy()) return true;
  fmt::print(
      stderr,
      "calpe reram: {} of {} bits differ from the CPU result; without noise all must match{}\n",
      errors.wrong, errors.bits,
      report.run.counters.clipped_sums == 0
          ? ""
          : fmt::format(" (the converters clip; use --set adc_bits={})",
                        report.run.adc_bits_needed));
  return false;
}

int run(const ReramArguments& arguments) {
  const Result<bool> answer = simulate_and_print(arguments);
  if (answer) return *answer ? exit_ok : exit_not_ok;
  fmt::print(stderr, "calpe reram: {}\n", answer.error().message);
  switch (answer.error().code) {
    case ErrorCode::unrecoverable:
      return exit_not_ok;
    case ErrorCode::compile_failed:  // the options describe hardware that the code does not fit on
      return exit_usage;
    default:
      return exit_code_of(answer.error().code);
  }
}

std::vector<std::string> preset_words() {
  const auto names = reram::preset_names();
  return {names.begin(), names.end()};
}

void add_code_options(CLI::App& command, ReramArguments& arguments) {
  command.add_option("--data", arguments.data, "Data shards, k")
      ->capture_default_str()
      ->check(CLI::Range(1U, 255U));
  command.add_option("--parity", arguments.parity, "Parity shards, m")
      ->capture_default_str()
      ->check(CLI::Range(1U, 255U));
  command
      .add_option("--lose", arguments.lose, "Shards to rebuild instead of encoding, such as 0,3")
      ->type_name("SHARDS")
      ->delimiter(',');
  command
      .add_option("--bytes", arguments.bytes,
                  "Bytes of data, rounded up to whole stripes of 64 * k bytes")
      ->type_name("BYTES")
      ->capture_default_str();
  command.add_option("--seconds", arguments.seconds, "Seconds to measure this machine's CPU")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 3600.0));
}

void add_hardware_options(CLI::App& command, ReramArguments& arguments) {
  CLI::Option* const preset =
      command.add_option("--preset", arguments.preset, "Simulated hardware")
          ->type_name(type_name_with("PRESET", preset_words()))
          ->capture_default_str();
  command
      .add_option("--parameters", arguments.parameters,
                  "Simulated hardware from a file (see --print-parameters)")
      ->type_name("FILE")
      ->excludes(preset);
  command
      .add_option("--set", arguments.settings,
                  "Parameter to change, such as variation=0.03, repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_flag("--print-parameters", arguments.print_parameters,
                   "Print all parameters with their origin and exit");
  command
      .add_option("--grid", arguments.grid,
                  "Crossbars per matrix, such as 2x2 (default: the fewest)")
      ->type_name("ROWSxCOLUMNS");
  command
      .add_option("--combine", arguments.combine,
                  "How to combine crossbars: rewrite (as the paper) or digital")
      ->capture_default_str()
      ->check(CLI::IsMember({"rewrite", "digital"}));
  command
      .add_option("--active-rows", arguments.active_rows,
                  "Maximum number of rows driven at once (default: all)")
      ->check(CLI::Range(1U, 4096U));
  command
      .add_option("--ssds", arguments.ssds,
                  "SSDs that share the work of XOR mode (default: shards read)")
      ->check(CLI::Range(1U, 1024U));
  command.add_flag("--no-xor-mode", arguments.no_xor_mode,
                   "Use the matrix even for a single lost shard");
  command.add_option("--target-rate", arguments.target_rate, "Acceptable rate of wrong bits")
      ->capture_default_str()
      ->check(CLI::Range(1e-300, 0.5));
}

}  // namespace

void add_reram_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ReramArguments>();
  CLI::App* const command =
      app.add_subcommand("reram", "Simulate coding in ReRAM crossbars (Re-RAID)");
  command->footer(
      "Exit codes: 0 done, 1 wrong bytes without noise or shards that cannot be rebuilt, "
      "3 wrong usage, 4 I/O error.\n"
      "Example: calpe reram --data 10 --parity 4\n"
      "Example: calpe reram --data 10 --parity 4 --lose 0,3 --preset nvsim-32nm --json\n"
      "Example: calpe reram --set variation=0.03 --set on_off_ratio=20\n"
      "Example: calpe reram --plot plots\n"
      "See calpe-reram(1) and docs/reram.md.");
  add_code_options(*command, *arguments);
  add_hardware_options(*command, *arguments);
  command->add_flag("--json", arguments->json, "Print JSON");
  command
      ->add_option("--plot", arguments->plot,
                   "Directory for throughput.svg, errors.svg and wear.svg")
      ->type_name("DIR");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace calpe::tools
