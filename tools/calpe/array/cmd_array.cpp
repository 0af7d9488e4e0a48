// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/try.hpp"
#include "calpe/array/array_checks.hpp"
#include "calpe/array/array_verbs.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/verbs.hpp"

namespace calpe::tools {

namespace {

constexpr const char* array_exit_codes =
    "Exit codes: 0 done or healthy, 1 degraded or refused, 2 data is lost, 3 wrong usage, "
    "4 I/O error.\n";

}  // namespace

CLI::App* add_array_verb(CLI::App& array, ArrayArguments& arguments, const std::string& name,
                         const std::string& description, const std::string& examples) {
  arguments.verb = name;
  CLI::App* const verb = array.add_subcommand(name, description);
  verb->footer(array_exit_codes + examples);
  verb->group("Commands");
  return verb;
}

void add_place_options(CLI::App& verb, ArrayArguments& arguments) {
  verb.add_option("members", arguments.place.members,
                  "Members and spares, in any order, if the array is not served")
      ->type_name("FILE");
  verb.add_option("--control", arguments.place.control,
                  "Control socket of the nbdkit that serves the array")
      ->type_name("SOCKET");
  verb.add_flag("--json", arguments.json, "Print JSON");
}

int run_array_verb(const ArrayArguments& arguments, const std::function<Result<int>()>& work) {
  const Result<int> done = work();
  if (done) return *done;
  const Error& error = done.error();
  const int exit_code = exit_code_of(error.code);
  fmt::print(stderr, "calpe array {}: {}\n", arguments.verb, printable(error.message));
  if (exit_code == exit_usage)
    fmt::print(stderr, "calpe array {0}: see: calpe array {0} --help\n", arguments.verb);
  if (arguments.json) print_json({{"error", error.message}, {"exit_code", exit_code}});
  return exit_code;
}

int show_refusal(const ArrayArguments& arguments, const nlohmann::ordered_json& answer) {
  const auto why = answer.value("error", "");
  fmt::print(stderr, "calpe array {}: {}\n", arguments.verb, printable(why));
  if (arguments.json) print_json({{"error", why}, {"exit_code", exit_not_ok}});
  return exit_not_ok;
}

int run_with_array(const ArrayArguments& arguments, const nlohmann::ordered_json& request,
                   const std::function<Result<int>(ArrayEndpoint&)>& work) {
  return run_array_verb(arguments, [&]() -> Result<int> {
    CALPE_TRY(const auto checked, check_request(arguments.place, request));
    if (checked.contains("error")) return show_refusal(arguments, checked);
    CALPE_TRY(const std::unique_ptr<ArrayEndpoint> array, reach_array(arguments.place));
    CALPE_TRY(const int exit_code, work(*array));
    CALPE_CHECK(array->close());
    return exit_code;
  });
}

void add_array_command(CLI::App& app, int& exit_code) {
  CLI::App* const array = app.add_subcommand(
      "array",
      "Create and manage arrays, crash-safe block devices on files or disks\n\n"
      "Any m of the k+m members may fail. nbdkit serves an array; while it does, these commands "
      "use its control socket.");
  array->group(files_group);
  array->require_subcommand(1);
  array->footer(
      std::string(array_exit_codes) +
      "Example: calpe array create --data 4 --parity 2 --member-size 1G m0 m1 m2 m3 m4 m5\n"
      "Example: nbdkit calpe m0 m1 m2 m3 m4 m5 control=ctl\n"
      "Example: calpe array status --control ctl\n"
      "See calpe-array(1) and docs/array.md.");
  add_array_create(*array, exit_code);
  add_array_scan(*array, exit_code);
  add_array_status(*array, exit_code);
  add_array_members(*array, exit_code);
  add_array_upkeep(*array, exit_code);
  add_array_grow(*array, exit_code);
  add_array_grow_parity(*array, exit_code);
}

}  // namespace calpe::tools
