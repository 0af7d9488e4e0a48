// SPDX-License-Identifier: Apache-2.0
// calpe array fail, replace, add and remove.
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "base/try.hpp"
#include "calpe/array/array_report.hpp"
#include "calpe/array/array_verbs.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

struct MemberArguments {
  ArrayArguments array;
  unsigned member = 0;
  std::string path;
  bool force = false;
};

// A rebuild starts with the next server or rebuild command, which reports blocks that are lost.
std::shared_ptr<MemberArguments> new_arguments() {
  auto arguments = std::make_shared<MemberArguments>();
  arguments->array.place.is_paused = true;
  return arguments;
}

// The server may run in another directory.
std::string absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return error ? path : whole.string();
}

Result<int> ask_and_show(ArrayEndpoint& array, const MemberArguments& arguments,
                         const Json& request) {
  CALPE_TRY(const Json answer, array.ask(request));
  if (answer.contains("error")) return show_refusal(arguments.array, answer);
  CALPE_TRY(const Json status, array.ask({{"do", "status"}}));
  if (arguments.array.json) {
    print_json(status);
  } else {
    fmt::print("{}", array_table(status));
  }
  return exit_ok;
}

int run_request(const MemberArguments& arguments, const Json& request) {
  return run_with_array(arguments.array, request, [&](ArrayEndpoint& reached) {
    return ask_and_show(reached, arguments, request);
  });
}

void add_member_option(CLI::App& verb, MemberArguments& arguments) {
  verb.add_option("--member", arguments.member, "Number of the member, as listed by status")
      ->required();
}

void add_force_option(CLI::App& verb, MemberArguments& arguments) {
  verb.add_flag("--force", arguments.force, "WARNING: erase the data on the disk");
}

void add_fail(CLI::App& array, int& exit_code) {
  auto arguments = new_arguments();
  CLI::App* const verb = add_array_verb(array, arguments->array, "fail",
                                        "Take a member out of the array\n\n"
                                        "Refused if data would be lost.",
                                        "Example: calpe array fail --member 3 --control ctl");
  add_member_option(*verb, *arguments);
  add_place_options(*verb, arguments->array);
  verb->callback([arguments, &exit_code] {
    exit_code = run_request(*arguments, {{"do", "fail"}, {"member", arguments->member}});
  });
}

void add_replace(CLI::App& array, int& exit_code) {
  auto arguments = new_arguments();
  CLI::App* const verb = add_array_verb(
      array, arguments->array, "replace",
      "Replace a member\n\n"
      "A member that is out is rebuilt from the others; the old file or disk, put back, only gets "
      "the writes it missed. A live member serves until the new one has everything; remove --spare "
      "with the new one cancels that.",
      "Example: calpe array replace --member 3 --with /dev/sdx --control ctl");
  add_member_option(*verb, *arguments);
  verb->add_option("--with", arguments->path, "New file or disk, or the old one")
      ->type_name("FILE")
      ->required();
  add_force_option(*verb, *arguments);
  add_place_options(*verb, arguments->array);
  verb->callback([arguments, &exit_code] {
    exit_code = run_request(*arguments, {{"do", "replace"},
                                         {"member", arguments->member},
                                         {"path", absolute(arguments->path)},
                                         {"force", arguments->force}});
  });
}

void add_retry(CLI::App& array, int& exit_code) {
  auto arguments = new_arguments();
  CLI::App* const verb = add_array_verb(array, arguments->array, "retry",
                                        "Put a member back that is out after I/O errors\n\n"
                                        "It gets the writes it missed. If it fails again, it is "
                                        "out again.",
                                        "Example: calpe array retry --member 3 --control ctl");
  add_member_option(*verb, *arguments);
  add_place_options(*verb, arguments->array);
  verb->callback([arguments, &exit_code] {
    exit_code = run_request(*arguments, {{"do", "retry"}, {"member", arguments->member}});
  });
}

void add_add(CLI::App& array, int& exit_code) {
  auto arguments = new_arguments();
  CLI::App* const verb = add_array_verb(array, arguments->array, "add",
                                        "Add a spare, which replaces the next member that fails",
                                        "Example: calpe array add --spare /dev/sdy --control ctl");
  verb->add_option("--spare", arguments->path, "File or disk, at least as large as a member")
      ->type_name("FILE")
      ->required();
  add_force_option(*verb, *arguments);
  add_place_options(*verb, arguments->array);
  verb->callback([arguments, &exit_code] {
    exit_code = run_request(
        *arguments,
        {{"do", "add"}, {"path", absolute(arguments->path)}, {"force", arguments->force}});
  });
}

void add_remove(CLI::App& array, int& exit_code) {
  auto arguments = new_arguments();
  CLI::App* const verb =
      add_array_verb(array, arguments->array, "remove",
                     "Remove a spare from the array\n\n"
                     "Erases its superblocks, so that it is a blank file or disk again.",
                     "Example: calpe array remove --spare /dev/sdy --control ctl");
  verb->add_option("--spare", arguments->path, "File or disk of the spare")
      ->type_name("FILE")
      ->required();
  add_place_options(*verb, arguments->array);
  verb->callback([arguments, &exit_code] {
    exit_code = run_request(*arguments, {{"do", "remove"}, {"path", absolute(arguments->path)}});
  });
}

}  // namespace

void add_array_members(CLI::App& array, int& exit_code) {
  add_fail(array, exit_code);
  add_replace(array, exit_code);
  add_retry(array, exit_code);
  add_add(array, exit_code);
  add_remove(array, exit_code);
}

}  // namespace calpe::tools
