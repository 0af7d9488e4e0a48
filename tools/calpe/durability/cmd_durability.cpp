// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <memory>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/durability/durability_number.hpp"
#include "calpe/durability/durability_report.hpp"
#include "calpe/verbs.hpp"

namespace calpe::tools {

namespace {

struct DurabilityArguments {
  durability::CodeChoice code;
  std::vector<std::string> compare;
  std::string model = "chain";
  std::uint64_t devices = 0;
  std::uint64_t nodes = 0;
  std::uint64_t disks = 20;
  std::uint64_t pool = 0;
  std::string capacity = "20T";
  std::string fill = "80%";
  std::string afr = "1.5%";
  std::string failures_per_year;
  std::string mttf_hours;
  std::vector<double> weibull;
  double read_errors = 1e-15;
  double latent_errors = 0;
  double scrub_days = 30;
  std::string shard_bytes = "1Mi";
  std::string read_rate = "200M";
  std::string write_rate = "200M";
  std::string rebuild_share = "30%";
  std::string network_rate;
  std::string decode_rate;
  std::string bench;
  double detect_hours = 0.5;
  double replace_hours = 12;
  std::string repair_hours;
  bool serial_repair = false;
  double shocks_per_year = 0;
  std::string shock_hit = "10%";
  double batch_factor = 1;
  double mission_years = 5;
  double target_nines = 11;
  bool has_target = false;
  std::uint64_t cycles = 200'000;
  std::uint64_t missions = 0;
  bool fixed_repair = false;
  std::uint64_t seed = 1;
  bool mttdl = false;
  bool published = false;
  bool json = false;
  std::string plot;
};

Result<std::optional<double>> parse_optional(std::string_view option, const std::string& text) {
  if (text.empty()) return std::optional<double>();
  CALPE_TRY(const double value, parse_number(option, text));
  return std::optional(value);
}

// Sets the device lifetime and its description.
Status set_life(const DurabilityArguments& a, DurabilityRequest& request) {
  durability::DeviceLife& life = request.inputs.life;
  if (!a.weibull.empty()) {
    CALPE_TRY(life, durability::life_from_weibull(a.weibull[0], a.weibull[1]));
    request.failures =
        fmt::format("Weibull, shape {:g}, scale {:g} hours", a.weibull[0], a.weibull[1]);
  } else if (!a.mttf_hours.empty()) {
    CALPE_TRY(const double hours, parse_number("--mttf-hours", a.mttf_hours));
    CALPE_TRY(life, durability::life_from_mttf(hours));
    request.failures = fmt::format("MTTF of {:g} hours", hours);
  } else if (!a.failures_per_year.empty()) {
    CALPE_TRY(const double rate, parse_number("--failures-per-year", a.failures_per_year));
    CALPE_TRY(life, durability::life_from_rate(rate));
    request.failures = fmt::format("{:g} per device and year", rate);
  } else {
    CALPE_TRY(const double afr, parse_number("--afr", a.afr));
    CALPE_TRY(life, durability::life_from_afr(afr));
    request.failures = fmt::format("{:.4g} % of devices a year (AFR)", 100 * afr);
  }
  request.failures += ", independent";
  return Done{};
}

Status set_inputs(const DurabilityArguments& a, durability::Inputs& in) {
  in.model = a.model == "window" ? durability::Model::window : durability::Model::chain;
  in.devices = a.nodes != 0 ? a.nodes * a.disks : a.devices;
  in.pool_devices = a.pool;
  CALPE_TRY(in.capacity_bytes, parse_number("--capacity", a.capacity));
  CALPE_TRY(in.fill, parse_number("--fill", a.fill));
  CALPE_TRY(in.shard_bytes, parse_number("--shard-bytes", a.shard_bytes));
  CALPE_TRY(in.read_bytes_per_s, parse_number("--read-rate", a.read_rate));
  CALPE_TRY(in.write_bytes_per_s, parse_number("--write-rate", a.write_rate));
  CALPE_TRY(in.rebuild_share, parse_number("--rebuild-share", a.rebuild_share));
  CALPE_TRY(in.network_bytes_per_s, parse_optional("--network-rate", a.network_rate));
  CALPE_TRY(in.decode_bytes_per_s, parse_optional("--decode-rate", a.decode_rate));
  CALPE_TRY(in.repair_hours, parse_optional("--repair-hours", a.repair_hours));
  CALPE_TRY(in.shock_hit, parse_number("--shock-hit", a.shock_hit));
  in.read_errors_per_bit = a.read_errors;
  in.latent_errors_per_tb_year = a.latent_errors;
  in.scrub_days = a.scrub_days;
  in.detect_hours = a.detect_hours;
  in.replace_hours = a.replace_hours;
  in.is_repair_serial = a.serial_repair;
  in.shocks_per_year = a.shocks_per_year;
  in.batch_factor = a.batch_factor;
  in.mission_years = a.mission_years;
  return Done{};
}

Result<DurabilityRequest> request_of(const DurabilityArguments& a) {
  DurabilityRequest request;
  CALPE_CHECK(set_inputs(a, request.inputs));
  CALPE_CHECK(set_life(a, request));
  request.is_comparison = !a.compare.empty();
  for (const std::string& text : a.compare) {
    CALPE_TRY(const durability::CodeChoice code, durability::parse_code(text));
    request.codes.push_back(code);
  }
  if (!request.is_comparison) request.codes.push_back(a.code);
  request.bench = a.bench;
  request.nodes = static_cast<double>(a.nodes);
  request.target_nines = a.target_nines;
  request.cycles = a.cycles;
  request.missions = a.missions;
  request.is_repair_fixed = a.fixed_repair;
  request.seed = a.seed;
  request.has_mttdl = a.mttdl;
  request.plot = a.plot;
  return request;
}

Result<DurabilityReport> compute(const DurabilityArguments& arguments) {
  CALPE_TRY(const DurabilityRequest request, request_of(arguments));
  const Progress progress("computing");
  return run_durability(request);
}

int run(const DurabilityArguments& arguments) {
  if (arguments.published) {
    print_published(arguments.json);
    return 0;
  }
  const Result<DurabilityReport> report = compute(arguments);
  if (!report) {
    fmt::print(stderr, "calpe durability: {}\n", report.error().message);
    return report.error().code == ErrorCode::unproven ? exit_not_ok
                                                      : exit_code_of(report.error().code);
  }
  if (arguments.json) {
    fmt::print("{}\n", to_json(*report).dump(2));
  } else {
    print_table(*report);
  }
  if (!arguments.has_target) return 0;
  for (const DurabilityRow& row : report->rows) {
    if (row.estimate.nines < arguments.target_nines) return exit_not_ok;
  }
  return 0;
}

void add_code_options(CLI::App& command, DurabilityArguments& a) {
  command.add_option("--profile", a.code.profile, "Code profile (calpe codes lists them)")
      ->type_name("PROFILE")
      ->capture_default_str();
  command.add_option("--data", a.code.data, "Data shards, k")
      ->capture_default_str()
      ->check(CLI::Range(1U, 255U));
  command
      .add_option("--parity", a.code.parity, "Parity shards, m; lrc: local plus global; 0: no code")
      ->capture_default_str()
      ->check(CLI::Range(0U, 255U));
  command.add_option("--groups", a.code.groups, "Local groups of an lrc")
      ->check(CLI::Range(0U, 255U));
  command
      .add_option("--compare", a.compare,
                  "Codes to compare: k+m or lrc:k+local+global, such as 8+2,lrc:12+2+2")
      ->type_name("CODES")
      ->delimiter(',');
  command.add_option("--model", a.model, "Model: the exact chain, or the window of Backblaze")
      ->capture_default_str()
      ->check(CLI::IsMember({"chain", "window"}));
}

void add_device_options(CLI::App& command, DurabilityArguments& a) {
  CLI::Option* const devices =
      command
          .add_option("--devices", a.devices, "Devices in the system (default: one group of k+m)")
          ->check(CLI::Range(1ULL, 1'000'000'000'000ULL));
  command.add_option("--nodes", a.nodes, "Nodes in the system, each with --disks devices")
      ->excludes(devices)
      ->check(CLI::Range(1U, 1'000'000'000U));
  command.add_option("--disks", a.disks, "Devices per node")
      ->capture_default_str()
      ->check(CLI::Range(1U, 1000U));
  command.add_option("--pool", a.pool, "Devices that share stripes, declustered (default: k+m)")
      ->check(CLI::Range(1U, 1'000'000U));
  command.add_option("--capacity", a.capacity, "Capacity of one device")
      ->type_name("BYTES")
      ->capture_default_str();
  command.add_option("--fill", a.fill, "Used share of each device")
      ->type_name("SHARE")
      ->capture_default_str();
  CLI::Option* const afr =
      command.add_option("--afr", a.afr, "Probability that a device fails within a year")
          ->type_name("SHARE")
          ->capture_default_str();
  CLI::Option* const rate = command
                                .add_option("--failures-per-year", a.failures_per_year,
                                            "Failures per device-year, the AFR of Backblaze")
                                ->type_name("NUMBER")
                                ->excludes(afr);
  CLI::Option* const mttf =
      command.add_option("--mttf-hours", a.mttf_hours, "Mean time to failure of a device")
          ->type_name("HOURS")
          ->excludes(afr)
          ->excludes(rate);
  command.add_option("--weibull", a.weibull, "Weibull lifetime of a device, such as 1.12,87600")
      ->type_name("SHAPE,HOURS")
      ->delimiter(',')
      ->expected(2)
      ->excludes(afr)
      ->excludes(rate)
      ->excludes(mttf);
  command.add_option("--read-errors", a.read_errors, "Unrecoverable read errors per bit")
      ->capture_default_str();
  command.add_option("--latent-errors", a.latent_errors, "Latent sector errors per TB and year")
      ->capture_default_str();
  command.add_option("--scrub-days", a.scrub_days, "Days between scrubs; 0: never")
      ->capture_default_str();
  command.add_option("--shard-bytes", a.shard_bytes, "Bytes of one shard of a stripe")
      ->type_name("BYTES")
      ->capture_default_str();
}

void add_rebuild_options(CLI::App& command, DurabilityArguments& a) {
  command.add_option("--read-rate", a.read_rate, "Read rate of one device, in bytes/s")
      ->type_name("BYTES")
      ->capture_default_str();
  command.add_option("--write-rate", a.write_rate, "Write rate of one device, in bytes/s")
      ->type_name("BYTES")
      ->capture_default_str();
  command.add_option("--rebuild-share", a.rebuild_share, "Share of these rates used for rebuilds")
      ->type_name("SHARE")
      ->capture_default_str();
  command
      .add_option("--network-rate", a.network_rate,
                  "Network rate of one rebuild, in bytes/s (default: no limit)")
      ->type_name("BYTES");
  CLI::Option* const decode =
      command
          .add_option("--decode-rate", a.decode_rate,
                      "Decode rate, in bytes/s of survivors (default: no limit)")
          ->type_name("BYTES");
  command.add_option("--bench", a.bench, "Report of calpe bench --json with the decode rate")
      ->type_name("FILE")
      ->excludes(decode);
  command.add_option("--detect-hours", a.detect_hours, "Hours until a failure is detected")
      ->capture_default_str();
  command
      .add_option("--replace-hours", a.replace_hours,
                  "Hours until the rebuild starts; 0: hot spare")
      ->capture_default_str();
  command
      .add_option("--repair-hours", a.repair_hours,
                  "Total repair time, instead of the options above")
      ->type_name("HOURS");
  command.add_flag("--serial-repair", a.serial_repair, "Rebuild one device at a time");
  command
      .add_option("--shocks-per-year", a.shocks_per_year, "Shocks per year that hit a whole group")
      ->capture_default_str();
  command.add_option("--shock-hit", a.shock_hit, "Probability that a shock destroys a device")
      ->type_name("SHARE")
      ->capture_default_str();
  command
      .add_option("--batch-factor", a.batch_factor,
                  "Failure rate multiplier while a device is down")
      ->capture_default_str();
}

void add_answer_options(CLI::App& command, DurabilityArguments& a) {
  command.add_option("--mission-years", a.mission_years, "Years that the data is kept")
      ->capture_default_str();
  command
      .add_option("--target-nines", a.target_nines,
                  "Required nines; if given and missed, the exit code is 1")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 300.0))
      ->each([&a](const std::string&) { a.has_target = true; });
  command.add_option("--cycles", a.cycles, "Cycles of importance sampling")
      ->capture_default_str()
      ->check(CLI::Range(0ULL, 1'000'000'000ULL));
  command.add_option("--missions", a.missions, "Whole missions to simulate")
      ->capture_default_str()
      ->check(CLI::Range(0ULL, 1'000'000'000ULL));
  command.add_flag("--fixed-repair", a.fixed_repair, "Simulate repairs of constant duration");
  command.add_option("--seed", a.seed, "Seed of the simulations")->capture_default_str();
  command.add_flag("--mttdl", a.mttdl, "Also print the mean time to data loss");
  command.add_flag("--published", a.published, "Recompute published numbers and exit");
  command.add_flag("--json", a.json, "Print JSON with raw values");
  command.add_option("--plot", a.plot, "Directory for loss.svg and rebuild.svg")->type_name("DIR");
}

}  // namespace

void add_durability_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<DurabilityArguments>();
  CLI::App* const command = app.add_subcommand(
      "durability", "Compute the probability of data loss and the cost of repair");
  command->footer(
      "Number suffixes: %, K M G T P E (powers of 1000), Ki Mi Gi ... (of 1024).\n"
      "Exit codes: 0 done, 1 target missed or code not proven, 3 wrong usage, 4 I/O error.\n"
      "Example: calpe durability --data 10 --parity 4 --afr 1.5% --capacity 20T\n"
      "Example: calpe durability --compare 8+2,10+4,17+3,lrc:12+2+2 --plot plots\n"
      "Example: calpe durability --data 12 --parity 4 --nodes 10000 --disks 20\n"
      "Example: calpe durability --data 14 --parity 2 --mttf-hours 1.2e6 --repair-hours 24\n"
      "         --serial-repair --mttdl\n"
      "Example: calpe durability --published\n"
      "See calpe-durability(1) and docs/durability.md.");
  add_code_options(*command, *arguments);
  add_device_options(*command, *arguments);
  add_rebuild_options(*command, *arguments);
  add_answer_options(*command, *arguments);
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace calpe::tools
