// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/try.hpp"
#include "calpe/array/array_verbs.hpp"
#include "calpe/files/files_common.hpp"
#include "calpe/verbs.hpp"

namespace calpe::tools {

CLI::App* add_array_verb(CLI::App& array, ArrayArguments& arguments, const std::string& name,
                         const std::string& description) {
  arguments.verb = name;
  CLI::App* const verb = array.add_subcommand(name, description);
  verb->group("Commands");
  return verb;
}

void add_place_options(CLI::App& verb, ArrayArguments& arguments) {
  verb.add_option("members", arguments.place.members,
                  "The array's members and spares, in any order; where nothing serves it")
      ->type_name("FILE");
  verb.add_option("--control", arguments.place.control,
                  "The control socket of the nbdkit that serves the array")
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

int run_with_array(const ArrayArguments& arguments,
                   const std::function<Result<int>(ArrayEndpoint&)>& work) {
  return run_array_verb(arguments, [&]() -> Result<int> {
    CALPE_TRY(const std::unique_ptr<ArrayEndpoint> array, reach_array(arguments.place));
    CALPE_TRY(const int exit_code, work(*array));
    CALPE_CHECK(array->close());
    return exit_code;
  });
}

void add_array_command(CLI::App& app, int& exit_code) {
  CLI::App* const array = app.add_subcommand(
      "array",
      "Make and look after arrays: crash-safe block devices over files or disks of which any m "
      "may be lost.\n"
      "nbdkit serves them (docs/array.md); while it does, these commands go through its control "
      "socket.\n\n"
      "Example: calpe array create --data 4 --parity 2 --member-size 1G m0 m1 m2 m3 m4 m5\n"
      "Example: nbdkit calpe m0 m1 m2 m3 m4 m5 control=ctl\n"
      "Example: calpe array status --control ctl");
  array->group(files_group);
  array->require_subcommand(1);
  array->footer(  // of its verbs, too
      "Exit codes: 0 fine, 1 degraded, 2 too much is lost, 3 wrong usage, 4 input or output "
      "failed.");
  add_array_create(*array, exit_code);
  add_array_status(*array, exit_code);
  add_array_members(*array, exit_code);
  add_array_upkeep(*array, exit_code);
  add_array_grow_parity(*array, exit_code);
}

}  // namespace calpe::tools
