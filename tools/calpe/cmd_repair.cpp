// SPDX-License-Identifier: Apache-2.0
#include "calpe/cmd_repair.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/files_common.hpp"
#include "calpe/files_report.hpp"
#include "calpe/progress_bar.hpp"
#include "store/repair_set.hpp"

namespace calpe::tools {

namespace {

struct RepairArguments {
  FilesArguments files;
  std::vector<std::string> targets;
  bool overwrite = false;
};

void print_repaired(const store::RepairReport& report) {
  for (const std::string& path : report.files_changed)
    fmt::print("mended {}\n", printable(path));
  for (const std::string& path : report.originals_restored)
    fmt::print("put back {}\n", printable(path));
  for (const std::string& path : report.files_created) {
    const auto& replaced = report.files_replaced;
    const bool is_replaced = std::find(replaced.begin(), replaced.end(), path) != replaced.end();
    fmt::print("made {}{}\n", printable(path), is_replaced ? ", in place of one of no use" : "");
  }
  if (!report.originals_left.empty()) {
    fmt::print("{}: {} changed since, and left.\n", set_title(report.before.header),
               count_text(report.originals_left.size(), "file"));
  } else if (report.before.is_good()) {
    fmt::print("{}: nothing to repair.\n", set_title(report.before.header));
  } else {
    fmt::print("{}: whole again, {} written.\n", set_title(report.before.header),
               count_text(report.blocks_written, "block"));
  }
}

nlohmann::ordered_json repaired_json(const store::RepairReport& report) {
  return {{"state", report.originals_left.empty() ? "good" : "damaged"},
          {"set", to_json(report.before.header)},
          {"blocks_written", report.blocks_written},
          {"files_changed", report.files_changed},
          {"files_created", report.files_created},
          {"files_replaced", report.files_replaced},
          {"originals_restored", report.originals_restored},
          {"originals_left", report.originals_left},
          {"before", to_json(report.before)}};
}

// Which shards and stripes: the error has them in a sentence, programs want them all.
Result<int> say_why_not(const FilesArguments& arguments, const store::FoundSet& set,
                        const Error& error) {
  CALPE_TRY(const store::VerifyReport report,
            store::verify_set(store::posix_files(), set, false, arguments.jobs));
  if (report.is_repairable()) return error;
  if (arguments.json) {
    print_json(to_json(report));
  } else {
    print_report(report);
  }
  fmt::print(stderr, "calpe repair: {}\n", printable(error.message));
  return files_exit_lost;
}

Result<int> repair(const RepairArguments& arguments) {
  CALPE_TRY(const store::FoundSet set, find_settled_set(arguments.files));
  store::RepairOptions options;
  options.targets = arguments.targets;
  options.overwrite = arguments.overwrite;
  options.jobs = arguments.files.jobs;
  CALPE_TRY(store::FileSystem * files, files_of(arguments.files));
  ProgressBar bar("repairing " + printable(set.header.name));
  options.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
  const auto report = store::repair_set(*files, set, options);
  bar.end();
  if (!report && report.error().code == ErrorCode::unrecoverable)
    return say_why_not(arguments.files, set, report.error());
  if (!report) return report.error();
  if (arguments.files.json) {
    print_json(repaired_json(*report));
  } else {
    print_repaired(*report);
  }
  for (const std::string& path : report->originals_left) {
    fmt::print(
        stderr,
        "calpe repair: {} was changed since it was protected: calpe update keeps the change, "
        "--overwrite undoes it\n",
        printable(path));
  }
  return report->originals_left.empty() ? files_exit_good : files_exit_damaged;
}

}  // namespace

void add_repair_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RepairArguments>();
  CLI::App* const command =
      add_files_verb(app, arguments->files, "repair",
                     "Make a damaged set of shards whole again: bad blocks are rewritten in place, "
                     "missing shards\n"
                     "are made anew. Nothing is changed when some of it cannot be repaired.\n\n"
                     "Example: calpe repair /mnt/a /mnt/b -o /mnt/new");
  add_set_options(*command, arguments->files);
  add_jobs_option(*command, arguments->files);
  add_io_option(*command, arguments->files, "threads");
  command
      ->add_option("-o,--output", arguments->targets,
                   "Folder for shards that are missing; repeatable; the folders of the others if\n"
                   "not given; each goes to the one with the fewest")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  command->add_flag("--overwrite", arguments->overwrite,
                    "Of originals: also put files back that were changed since");
  command->callback([arguments, &exit_code] {
    exit_code =
        run_files_verb(arguments->files, [&](const FilesArguments&) { return repair(*arguments); });
  });
}

}  // namespace calpe::tools
