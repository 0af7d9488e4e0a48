// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fstream>
#include <memory>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/option_types.hpp"
#include "calpe/equations/dot_graph.hpp"
#include "calpe/equations/equations_arguments.hpp"
#include "calpe/equations/equations_program.hpp"
#include "calpe/equations/equations_report.hpp"
#include "calpe/verbs.hpp"
#include "emit/emit.hpp"
#include "ir/text_form.hpp"
#include "opt/optimise.hpp"

namespace calpe::tools {

namespace {

Error not_written(const std::string& path) {
  return make_error(ErrorCode::io, "cannot write ", path,
                    "; check that its directory exists and is writable");
}

// Fails early, before a long optimisation whose result could not be written.
Status check_writable(const std::string& path) {
  if (path.empty() || path == "-" || std::ofstream(path, std::ios::app)) return Done{};
  return not_written(path);
}

Status write_text(const std::string& path, const std::string& content) {
  if (path == "-") {
    fmt::print("{}", content);
    return Done{};
  }
  std::ofstream file(path, std::ios::binary);
  file << content << std::flush;
  if (file) return Done{};
  return not_written(path);
}

Result<std::string> text_of(const EquationsArguments& arguments, const Equations& equations) {
  if (arguments.emit == "text") return legend_of(equations) + ir::print(equations.program);
  CALPE_TRY(const emit::Target target, emit::target_by_name(arguments.emit));
  return emit::emit(
      equations.program, target,
      {.unit_bytes = arguments.unit_bytes, .name = arguments.name, .title = title_of(equations)});
}

Status check_arguments(const EquationsArguments& arguments) {
  if (!arguments.disabled_passes.empty() || arguments.trace) {
    if (arguments.style != "optimised")
      return invalid("--disable-pass and --trace need --style optimised");
  }
  if (arguments.unit_bytes != 0 && arguments.emit == "text" && !arguments.compile_run)
    return invalid("--unit-bytes needs --emit c, openmp, opencl, cuda, ptx, hip or spirv");
  return Done{};
}

// Returns whether all reports are good.
Result<bool> write_all(const EquationsArguments& arguments, const Equations& equations) {
  const bool has_report = arguments.stats || arguments.json || arguments.check ||
                          arguments.compile_run || !arguments.equals.empty() ||
                          arguments.dot == "-";
  if (!arguments.output.empty() || !has_report) {
    CALPE_TRY(const std::string text, text_of(arguments, equations));
    CALPE_CHECK(write_text(arguments.output.empty() ? "-" : arguments.output, text));
  }
  if (!arguments.dot.empty()) {
    const std::string title = fmt::format("{}, {}", equations.what, equations.style);
    CALPE_CHECK(write_text(
        arguments.dot,
        dot_graph(equations.program,
                  {.title = title, .reads = equations.reads, .writes = equations.writes})));
  }
  EquationsReport report(arguments, equations);
  bool is_good = true;
  report.add_stats();
  if (arguments.check) {
    CALPE_TRY(const bool answer, report.add_check());
    is_good = is_good && answer;
  }
  if (!arguments.equals.empty()) {
    CALPE_TRY(const bool answer, report.add_equals());
    is_good = is_good && answer;
  }
  if (arguments.compile_run) {
    CALPE_TRY(const bool answer, report.add_run());
    is_good = is_good && answer;
  }
  report.finish();
  return is_good;
}

Result<bool> make_and_write(const EquationsArguments& arguments) {
  CALPE_CHECK(check_arguments(arguments));
  CALPE_CHECK(check_writable(arguments.output));
  CALPE_CHECK(check_writable(arguments.dot));
  CALPE_TRY(const Equations equations, make_equations(arguments));
  if (equations.matrix && !equations.matrix->not_kept.empty()) {
    fmt::print(stderr, "calpe equations: cannot save the matrix found: {}\n",
               equations.matrix->not_kept);
  }
  return write_all(arguments, equations);
}

bool is_answer(ErrorCode code) {
  return code == ErrorCode::unproven || code == ErrorCode::unrecoverable ||
         code == ErrorCode::compile_failed;
}

std::vector<std::string> pass_words() {
  const auto names = opt::pass_names();
  return {names.begin(), names.end()};
}

void add_program_options(CLI::App& command, EquationsArguments& arguments) {
  command.add_option("--data", arguments.data, "Data shards, k")->check(CLI::Range(1, 65535));
  command.add_option("--parity", arguments.parity, "Parity shards, m")->check(CLI::Range(1, 65535));
  command
      .add_option("--word-bits", arguments.word_bits,
                  "Units per shard, w (default: smallest of the profile; --from: 1)")
      ->check(CLI::Range(1, 64));
  CLI::Option* const profile =
      command.add_option("--profile", arguments.profile, "Code; see calpe codes")
          ->type_name("PROFILE")
          ->capture_default_str();
  CLI::Option* const matrix =
      command
          .add_option("--matrix", arguments.matrix,
                      "Matrix of the profile, or an equivalent one with the fewest XORs")
          ->capture_default_str()
          ->check(CLI::IsMember({"profile", "known", "search"}))
          ->excludes(profile);
  command.add_option("--groups", arguments.groups, "Local groups (lrc only)")
      ->check(CLI::Range(0, 65535));
  command
      .add_option("--from", arguments.from,
                  "File with equations, instead of a code; - is standard input")
      ->type_name("FILE")
      ->excludes(profile)
      ->excludes(matrix);
  command
      .add_option("--lose", arguments.lose,
                  "Lost shards to decode, such as 0,3; parity starts at k")
      ->type_name("SHARDS")
      ->delimiter(',');
  command
      .add_option("--style", arguments.style,
                  "How far to share common terms (default: direct; --from: as given)")
      ->check(CLI::IsMember({"direct", "iterative", "optimised"}));
  command.add_option("--budget", arguments.budget, "Search effort of --style optimised")
      ->capture_default_str()
      ->check(CLI::IsMember({"fast", "standard", "thorough"}));
  command
      .add_option("--seed", arguments.seed, "Random seed of --style optimised and --compile-run")
      ->capture_default_str();
  command
      .add_option("--disable-pass", arguments.disabled_passes,
                  "Pass to skip in --style optimised; repeatable")
      ->type_name(type_name_with("PASS", pass_words()))
      ->allow_extra_args(false);
  command.add_flag("--trace", arguments.trace,
                   "Print XORs and seconds after each pass, on standard error");
}

void add_output_options(CLI::App& command, EquationsArguments& arguments) {
  command.add_option("--emit", arguments.emit, "Output language")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "c", "openmp", "opencl", "cuda", "ptx", "hip", "spirv"}));
  command
      .add_option("--unit-bytes", arguments.unit_bytes,
                  "Constant unit length in the output (default: a parameter)")
      ->type_name("BYTES");
  command.add_option("--name", arguments.name, "Name of the emitted function")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("-o,--output", arguments.output,
                  "Output file (default: standard output, unless there is a report)")
      ->type_name("FILE");
  command.add_option("--dot", arguments.dot, "Graphviz file to draw the program in")
      ->type_name("FILE");
  command.add_flag("--stats", arguments.stats, "Report XORs, loads, stores and live values");
  command.add_flag("--check", arguments.check,
                   "Report whether the code is MDS, and what it computes");
  command
      .add_option("--equals", arguments.equals,
                  "Report whether the equations in this file compute the same")
      ->type_name("FILE");
  command.add_flag("--compile-run", arguments.compile_run,
                   "Build and run the output, and compare it with the reference");
  command.add_flag("--json", arguments.json, "Print reports as JSON");
}

}  // namespace

int run_equations(const EquationsArguments& arguments, const std::string& command) {
  const auto answer = make_and_write(arguments);
  if (answer) return *answer ? exit_ok : exit_not_ok;
  fmt::print(stderr, "{}: {}\n", command, answer.error().message);
  return is_answer(answer.error().code) ? exit_not_ok : exit_code_of(answer.error().code);
}

void add_equations_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<EquationsArguments>();
  CLI::App* const command = app.add_subcommand(
      "equations", "Write a code as XOR equations, C, OpenCL, CUDA, HIP or SPIR-V");
  command->footer(
      "Exit codes: 0 done, 1 the answer is no (not MDS, not equal, wrong bytes), "
      "3 wrong usage, 4 I/O error.\n"
      "Example: calpe equations --data 5 --parity 2 --word-bits 3 --style optimised\n"
      "Example: calpe equations --from my.eq --data 5 --parity 2 --word-bits 3 --check\n"
      "See calpe-equations(1) and docs/equations.md.");
  add_program_options(*command, *arguments);
  add_output_options(*command, *arguments);
  command->callback(
      [arguments, &exit_code] { exit_code = run_equations(*arguments, "calpe equations"); });
}

}  // namespace calpe::tools
