// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_count.hpp"
#include "base/try.hpp"
#include "bench/harness/grid.hpp"
#include "bench/harness/report_json.hpp"
#include "bench/harness/report_table.hpp"
#include "calpe/bench/bench_run.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/option_types.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/verbs.hpp"

namespace {

using calpe::Error;
using calpe::ErrorCode;
using calpe::Result;
namespace bench = calpe::bench;

struct BenchArguments {
  bool quick = false;
  bool full = false;
  bool wide = false;
  bool json = false;
  bool quiet = false;
  std::vector<std::string> peers;
  std::vector<std::string> shapes;
  std::vector<std::string> shard_bytes;
  std::vector<std::string> operations;
  std::string profile = std::string(bench::default_profile);
  unsigned word_bits = 0;  // 0 = the profile's default, as for packet_bytes
  unsigned packet_bytes = 0;
  std::string effort = "fast";
  std::string backend = "auto";
  bool cold = false;
  std::string layout;  // empty = the grid's default
  std::string stores;  // empty = automatic, or streaming with --cold
  unsigned threads = 1;
  unsigned pool_threads = 1;
  unsigned rounds = 0;
  double seconds = 0;  // 0 = the grid's default
  std::string output;
  std::vector<std::string> sections;
  std::vector<std::string> devices;
  std::vector<std::string> gpus;

  std::string_view extent() const {
    if (wide) return "wide";
    return full ? "full" : "quick";
  }

  // True if only --quick or --full is chosen. Such a run measures everything that a report can
  // show.
  bool is_whole() const {
    return (json || !output.empty()) && !wide && shapes.empty() && shard_bytes.empty() &&
           operations.empty() && profile == bench::default_profile && backend == "auto" && !cold &&
           layout.empty() && stores.empty() && threads == 1 && pool_threads == 1;
  }
};

// Parses every text with `parse` into `target`, which keeps its default if there are no texts.
template <class Value>
calpe::Status parse_all(const std::vector<std::string>& texts,
                        Result<Value> (*parse)(std::string_view), std::vector<Value>& target) {
  if (!texts.empty()) target.clear();
  for (const std::string& text : texts) {
    auto value = parse(text);
    if (!value) return std::move(value).error();
    target.push_back(*value);
  }
  return calpe::Done{};
}

// Changes those of the grid as the arguments say.
Result<bench::Conditions> conditions_of(const BenchArguments& arguments,
                                        bench::Conditions conditions) {
  conditions.is_cold = arguments.cold;
  conditions.threads = arguments.threads;
  conditions.pool_threads = arguments.pool_threads;
  if (!arguments.layout.empty()) {
    auto layout = bench::parse_layout(arguments.layout);
    if (!layout) return std::move(layout).error();
    conditions.layout = *layout;
  }
  // With --cold the data is in no cache, so hint at streaming stores.
  conditions.stores = arguments.cold ? calpe::Stores::streaming : calpe::Stores::automatic;
  if (!arguments.stores.empty()) {
    auto stores = bench::parse_stores(arguments.stores);
    if (!stores) return std::move(stores).error();
    conditions.stores = *stores;
  }
  return conditions;
}

bench::GridOptions usual_grid(const BenchArguments& arguments) {
  if (arguments.wide) return bench::wide_grid();
  return arguments.full ? bench::full_grid() : bench::quick_grid();
}

Result<bench::GridOptions> grid_options(const BenchArguments& arguments) {
  bench::GridOptions grid = usual_grid(arguments);
  if (auto ok = parse_all(arguments.shapes, bench::parse_shape, grid.shapes); !ok)
    return std::move(ok).error();
  if (auto ok = parse_all(arguments.shard_bytes, calpe::parse_bytes, grid.shard_bytes); !ok)
    return std::move(ok).error();
  if (auto ok = parse_all(arguments.operations, bench::parse_operation, grid.operations); !ok)
    return std::move(ok).error();
  if (!arguments.shapes.empty()) {
    grid.plan_shapes = grid.shapes;
    // --shape alone asks for speed; measure plans only if --operation plan is given, too.
    if (arguments.operations.empty()) std::erase(grid.operations, bench::Operation::plan);
  }
  grid.profile = arguments.profile;
  grid.word_bits = arguments.word_bits;
  grid.packet_bytes = arguments.packet_bytes;
  auto effort = bench::parse_effort(arguments.effort);
  if (!effort) return std::move(effort).error();
  grid.effort = *effort;
  grid.backend = arguments.backend;
  auto conditions = conditions_of(arguments, grid.conditions);
  if (!conditions) return std::move(conditions).error();
  grid.conditions = *conditions;
  grid.rounds = arguments.rounds;
  if (arguments.seconds > 0) grid.seconds = arguments.seconds;
  return grid;
}

// Shows what is being measured and the time left.
class BenchProgress {
 public:
  explicit BenchProgress(bool is_wanted) : is_on_(is_wanted) {}
  void show(const bench::Progress& progress) {
    show(fmt::format("[{}/{}] {}", progress.done + 1, progress.total, progress.what),
         progress.seconds_left + seconds_behind_);
  }
  // For sections, whose remaining time is the planned one.
  void show(const std::string& what, double seconds_left) {
    if (!is_on_) return;
    const auto seconds = static_cast<unsigned>(std::max(0.0, seconds_left));
    line_.say(fmt::format("{}, {}:{:02} left", what, seconds / 60, seconds % 60));
  }
  void clear() { line_.clear(); }
  // Sets the time of the sections that run after the grid.
  void expect(double seconds) { seconds_behind_ = seconds; }

 private:
  bool is_on_;
  double seconds_behind_ = 0;
  calpe::tools::Progress line_{"", calpe::tools::Progress::Drawing::by_say};
};

constexpr double quick_seconds = 30;
constexpr double full_seconds = 300;

Result<calpe::tools::SectionRequest> section_request(const BenchArguments& arguments) {
  calpe::tools::SectionRequest request;
  std::vector<std::string> asked = arguments.sections;
  if (asked.empty() && arguments.is_whole()) asked = {"all"};
  CALPE_TRY(request.names, calpe::tools::sections_asked_for(asked));
  if (!arguments.devices.empty() && arguments.sections.empty() && request.names.empty())
    request.names = {"devices", "phases"};
  request.devices = arguments.devices;
  request.gpus = arguments.gpus;
  request.extent.extent = arguments.full ? bench::Extent::full : bench::Extent::quick;
  request.extent.rounds = arguments.rounds;
  const double usual = arguments.full ? full_seconds : quick_seconds;
  if (arguments.seconds > 0) request.extent.time_scale = arguments.seconds / usual;
  return request;
}

// The report's grid, then the sections.
Result<bench::Json> run_with_output(const BenchArguments& arguments) {
  auto grid = grid_options(arguments);
  if (!grid) return std::move(grid).error();
  CALPE_TRY(calpe::tools::SectionRequest request, section_request(arguments));
  if (auto spec = calpe::find_profile(grid->profile); !spec) return std::move(spec).error();
  auto peers = bench::open_peers(arguments.peers);
  if (!peers) return std::move(peers).error();

  const bool has_table = !arguments.json && !arguments.quiet;
  BenchProgress progress(!arguments.quiet);
  const double planned = request.names.empty() ? 0 : calpe::tools::planned_seconds(request);
  progress.expect(planned);
  request.extent.on_progress = [&](const std::string& what) {
    progress.show(what, grid->seconds + planned);
  };
  bench::Json sections = calpe::tools::run_first_section(request);
  bench::TablePrinter table(stdout);
  bench::GridObserver observer;
  observer.on_progress = [&](const bench::Progress& now) { progress.show(now); };
  if (has_table) {
    observer.on_start = [&](const bench::Report& report) { table.print_start(report); };
    observer.on_row = [&](const bench::Report& report, const bench::Row& row) {
      progress.clear();
      table.print_row(report, row);
    };
    observer.on_skip = [&](const bench::SkippedCell& cell) {
      progress.clear();
      table.print_skip(cell);
    };
  }
  auto report = bench::run_grid(*grid, *peers, observer);
  progress.clear();
  if (!report) return std::move(report).error();
  if (has_table) table.print_summary(*report);
  const double behind = bench::seconds_now(bench::Clock::wall) + planned;
  request.extent.on_progress = [&](const std::string& what) {
    progress.show(what, behind - bench::seconds_now(bench::Clock::wall));
  };
  auto more = calpe::tools::run_sections(request, *peers);
  progress.clear();
  if (!more) return std::move(more).error();
  bench::Json json = bench::to_json(*report);
  json["extent"] = arguments.extent();
  sections.update(*more);
  if (!sections.empty()) json["sections"] = std::move(sections);
  return json;
}

std::vector<std::string> section_words() {
  std::vector<std::string> words = calpe::tools::section_names();
  words.insert(words.end(), {"all", "none"});
  return words;
}

int fail(const Error& error) {
  const bool is_wrong = error.code == ErrorCode::corrupt;
  fmt::print(stderr, "calpe bench: {}{}\n", is_wrong ? "wrong bytes: " : "", error.message);
  return is_wrong ? calpe::tools::exit_not_ok : calpe::tools::exit_code_of(error.code);
}

int run(const BenchArguments& arguments) {
  // Open the file first, so that an unwritable path fails before the run.
  std::ofstream file;
  if (!arguments.output.empty()) file.open(arguments.output);
  const Error not_written{ErrorCode::io,
                          fmt::format("{}: cannot write the report", arguments.output)};
  if (!file) return fail(not_written);
  auto report = run_with_output(arguments);
  if (!report) return fail(report.error());
  const std::string text = bench::json_text(*report);
  if (arguments.json) fmt::print("{}", text);
  if (!arguments.output.empty()) file << text << std::flush;
  return file ? 0 : fail(not_written);
}

}  // namespace

namespace calpe::tools {

void add_bench_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* const command =
      app.add_subcommand("bench", "Measure coding speed, compared with memory and other libraries");
  command->footer(
      "Exit codes: 0 done, 1 a coder wrote wrong bytes, 3 wrong usage, 4 I/O error or missing "
      "library.\n"
      "Example: calpe bench --quick --peer isal --peer jerasure -o run.json\n"
      "         calpe report run.json -o report\n"
      "See calpe-bench(1) and docs/benchmarking.md.");
  CLI::Option* const quick = command->add_flag(
      "--quick", arguments->quick, "5 shapes, 3 shard lengths, encode and decode (default)");
  CLI::Option* const full =
      command
          ->add_flag("--full", arguments->full,
                     "10 shapes, 3 shard lengths, decode1 and plans too; about 12 minutes")
          ->excludes(quick);
  command
      ->add_flag("--wide", arguments->wide,
                 "12 shapes of 6 to 65536 shards, 1 KiB each, decode1 and decode-fresh too")
      ->excludes(quick)
      ->excludes(full);
  command
      ->add_option("--peer", arguments->peers,
                   "Library to compare with: isal, jerasure, klauspost or NAME=PATH; repeatable")
      ->type_name(calpe::tools::type_name_with("PEER", bench::peer_names()))
      ->allow_extra_args(false);
  command
      ->add_option("--shape", arguments->shapes, "Data and parity shards, such as 10+4; repeatable")
      ->type_name("K+M")
      ->allow_extra_args(false);
  command->add_option("--bytes", arguments->shard_bytes, "Shard length, such as 64K; repeatable")
      ->type_name("BYTES")
      ->allow_extra_args(false);
  command
      ->add_option("--operation", arguments->operations,
                   "Operation: encode, decode, decode1, decode-fresh, update, update-delta, batch "
                   "or plan; repeatable")
      ->type_name(calpe::tools::type_name_with("OPERATION", bench::operation_names()))
      ->allow_extra_args(false);
  command->add_option("--profile", arguments->profile, "Code profile, as listed by `calpe codes`")
      ->type_name("PROFILE")
      ->capture_default_str();
  command->add_option("--word-bits", arguments->word_bits, "Word bits w of a packets profile")
      ->check(CLI::Range(2U, 8U));
  command
      ->add_option("--packet-bytes", arguments->packet_bytes, "Packet length of a packets profile")
      ->check(CLI::Range(1U, 1U << 20U));
  command->add_option("--effort", arguments->effort, "Search effort for plans of a packets profile")
      ->type_name("TEXT:{fast,standard,thorough}")
      ->capture_default_str();
  command
      ->add_option("--backend", arguments->backend,
                   "Backend: auto, cpu, a CPU path such as cpu:avx2, jit or reference")
      ->type_name("BACKEND")
      ->capture_default_str();
  command->add_flag("--cold", arguments->cold,
                    "Stripes from 1 GiB in turn, so that none is cached");
  command
      ->add_option("--layout", arguments->layout,
                   "Buffer layout: padded with huge pages, power2 with 4 KiB pages, or contiguous "
                   "(default: padded, or contiguous with --wide)")
      ->type_name("TEXT:{padded,power2,contiguous}");
  command
      ->add_option("--stores", arguments->stores,
                   "Store hint for Calpe: automatic, cached or streaming (default: automatic, or "
                   "streaming with --cold)")
      ->type_name("TEXT:{automatic,cached,streaming}");
  command
      ->add_option("--threads", arguments->threads, "Concurrent callers, each with its own stripe")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1024u));
  command->add_option("--pool", arguments->pool_threads, "Threads inside Calpe's codec")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1024u));
  command
      ->add_option("--rounds", arguments->rounds,
                   "Rounds per cell (default: as many as --seconds allows)")
      ->check(CLI::Range(1u, 1000000u));
  command
      ->add_option("--seconds", arguments->seconds,
                   "Time for the grid (default: 30, 300 with --full, 60 with --wide)")
      ->check(CLI::Range(0.01, 86400.0));
  command
      ->add_option("--section", arguments->sections,
                   "Extra section for the report, all or none; repeatable (default: all, if no "
                   "other option selects what is measured)")
      ->type_name(calpe::tools::type_name_with("SECTION", section_words()))
      ->allow_extra_args(false);
  command
      ->add_option("--devices", arguments->devices,
                   "Device to measure: all, or a name listed by `calpe devices`; repeatable")
      ->type_name("BACKEND")
      ->allow_extra_args(false);
  command
      ->add_option("--predict", arguments->gpus,
                   "GPU description to predict rates for; repeatable (default: those in "
                   "examples/gpus)")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json,
                    "JSON report on standard output instead of the table");
  command->add_option("-o,--output", arguments->output, "File for the JSON report")
      ->type_name("FILE");
  command->add_flag("--quiet", arguments->quiet, "No table and no progress");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace calpe::tools
