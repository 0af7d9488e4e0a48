// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "base/files.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/report/report_charts.hpp"
#include "calpe/report/report_check.hpp"
#include "calpe/report/report_page.hpp"
#include "calpe/report/report_run.hpp"
#include "calpe/report/report_summary.hpp"
#include "calpe/verbs.hpp"

namespace calpe::tools {

namespace {

constexpr std::size_t problems_shown = 20;
constexpr std::chrono::minutes converter_time_max(1);

struct ReportArguments {
  std::string run;
  std::string output = "report";
  bool png = false;
  bool quiet = false;
};

Result<Json> read_run(const std::string& path) {
  CALPE_TRY(const std::string content, read_file(path));
  Result<Json> run = parse_run(content);
  if (!run) return invalid(path, ": ", run.error().message);
  return run;
}

// Calpe only draws SVG. External converters make PNG files.
Status convert(const std::string& svg, const std::string& png) {
  const auto rsvg = find_program("rsvg-convert");
  const auto inkscape = find_program("inkscape");
  std::vector<std::string> command;
  if (rsvg) {
    command = {*rsvg, "--zoom", "2", "--output", png, svg};
  } else if (inkscape) {
    command = {*inkscape, "--export-dpi=192", "--export-filename=" + png, svg};
  } else {
    return make_error(ErrorCode::backend_unavailable,
                      "--png needs rsvg-convert (package librsvg2-bin) or inkscape in PATH; the "
                      "charts were written as SVG");
  }
  CALPE_TRY(Subprocess process, Subprocess::start(command, converter_time_max));
  const ExitStatus status = process.wait();
  if (status.is_success()) return Done{};
  return make_error(ErrorCode::io, command.front(), " ", to_string(status), ": ",
                    status.output.substr(0, 500));
}

Status write_report(const Json& run, const ReportArguments& arguments) {
  const std::vector<NamedChart> charts = report_charts(run);
  CALPE_TRY(const std::vector<std::string> pictures, write_charts(arguments.output, charts));
  for (const std::string& svg : pictures) {
    if (!arguments.png) break;
    CALPE_CHECK(convert(svg, std::filesystem::path(svg).replace_extension(".png").string()));
  }
  const std::string page = (std::filesystem::path(arguments.output) / "index.html").string();
  CALPE_CHECK(replace_file(page, report_page(run, charts), Readers::as_umask_says));
  if (!arguments.quiet) {
    for (const std::string& sentence : summarize(run))
      fmt::print("{}\n", sentence);
    fmt::print("Wrote {} and {} charts.\n", page, charts.size());
  }
  return Done{};
}

int run(const ReportArguments& arguments) {
  auto read = read_run(arguments.run);
  if (!read) {
    fmt::print(stderr, "calpe report: {}\n", read.error().message);
    return exit_code_of(read.error().code);
  }
  const std::vector<std::string> problems = find_impossible(*read);
  for (std::size_t i = 0; i < std::min(problems.size(), problems_shown); ++i)
    fmt::print(stderr, "calpe report: {}: {}\n", arguments.run, problems[i]);
  if (!problems.empty()) {
    fmt::print(stderr, "calpe report: {} inconsistent figures; no report written\n",
               problems.size());
    return exit_not_ok;
  }
  const Status done = write_report(*read, arguments);
  if (done) return 0;
  fmt::print(stderr, "calpe report: {}\n", done.error().message);
  return exit_code_of(done.error().code);
}

}  // namespace

void add_report_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* const command =
      app.add_subcommand("report",
                         "Draw a report of a calpe bench run, as HTML and SVG\n\n"
                         "The page, index.html, needs no network. A run is refused if a rate does "
                         "not match its bytes and seconds, or is more than 10 % above the memory "
                         "limit measured with it.");
  command->footer(
      "Exit codes: 0 done, 1 inconsistent figures, 3 wrong usage, 4 a file cannot be read or "
      "written.\n"
      "Example: calpe bench --quick --peer isal -o run.json\n"
      "         calpe report run.json -o report\n"
      "See calpe-report(1) and docs/benchmarking.md.");
  command->add_option("FILE", arguments->run, "Run file written by calpe bench -o")
      ->type_name("FILE")
      ->required();
  command->add_option("-o,--output", arguments->output, "Directory for index.html and the charts")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_flag("--png", arguments->png,
                    "Charts as PNG files too; needs rsvg-convert or inkscape");
  command->add_flag("--quiet", arguments->quiet, "No output except errors");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace calpe::tools
