// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <memory>

#include "base/try.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/files/files_common.hpp"
#include "calpe/files/files_margin.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/original_paths.hpp"
#include "calpe/verbs.hpp"
#include "store/read/verify_set.hpp"

namespace calpe::tools {

namespace {

Result<int> verify(const FilesArguments& arguments, bool is_deep) {
  CALPE_TRY(const HeldSet held, find_one_set(arguments));
  const store::FoundSet& set = held.set;
  Progress bar("verifying " + printable(set.header.name));
  CALPE_TRY(
      const store::VerifyReport report,
      store::verify_set(*held.files, set, is_deep, arguments.jobs,
                        [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); }));
  bar.end();
  CALPE_CHECK(check_original_found(set, report));
  CALPE_TRY(const Margin margin, margin_of(arguments, set, report));
  if (arguments.json) {
    nlohmann::ordered_json json = to_json(report);
    add_margin(json, margin);
    json["hmac"] = hmac_state_name(report.header, arguments.roots);
    print_json(json);
  } else {
    print_report(report, needs_new_directory(arguments, report, margin));
    if (const std::string root = root_text(report.header, arguments.roots); !root.empty())
      fmt::print("{}\n", root);
  }
  print_margin(arguments, report.header, margin);
  return exit_code_of(report);
}

}  // namespace

void add_verify_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<FilesArguments>();
  auto is_deep = std::make_shared<bool>(false);
  CLI::App* const command = add_files_verb(
      app, *arguments, "verify",
      "Check every block of a set and report damage\n\n"
      "Reads all shards, changes nothing, and reports whether damage can be repaired. "
      "Shards are found by their headers; file names do not matter.");
  command->footer(std::string(exit_codes_help) +
                  "\n\nExample: calpe verify /mnt/a /mnt/b /mnt/c\n\nSee calpe-verify(1).");
  add_set_options(*command, *arguments);
  add_jobs_option(*command, *arguments);
  add_io_option(*command, *arguments, "threads");
  command->add_flag("--deep", *is_deep, "Also recompute parity and compare it");
  add_key_option(*command, arguments->roots, "Key that the HMAC must match");
  add_expect_option(*command, arguments->roots);
  command->callback([arguments, is_deep, &exit_code] {
    exit_code = run_files_verb(
        *arguments, [&](const FilesArguments& given) { return verify(given, *is_deep); });
  });
}

}  // namespace calpe::tools
