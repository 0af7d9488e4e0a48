// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/files/file_verb.hpp"
#include "calpe/files/files_margin.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/lost_ranges.hpp"
#include "calpe/files/original_paths.hpp"
#include "calpe/files/set_choice.hpp"
#include "calpe/verbs.hpp"
#include "store/find/older_generations.hpp"
#include "store/read/set_reader.hpp"
#include "store/repair/rebuild_undo.hpp"
#include "store/repair/repair_set.hpp"

namespace calpe::tools {

namespace {

struct RepairArguments {
  FilesArguments files;
  std::vector<std::string> targets;
  bool overwrite = false;
  bool partial = false;
};

// What --partial could not repair.
struct Rest {
  std::vector<LostFile> files = {};
  std::string problem = {};  // why the files are not known
};

// --partial may find nothing that it can repair.
bool is_nothing_repaired(const store::RepairReport& report) {
  return report.is_any_lost() && report.blocks_written == 0 && report.files_changed.empty() &&
         report.files_created.empty() && report.originals_restored.empty();
}

void print_repaired(const store::RepairReport& report) {
  for (const std::string& path : report.files_changed)
    fmt::print("repaired {}\n", printable(path));
  for (const std::string& path : report.originals_restored)
    fmt::print("restored {}\n", printable(path));
  for (const std::string& path : report.files_created) {
    const auto& replaced = report.files_replaced;
    const bool is_replaced = std::find(replaced.begin(), replaced.end(), path) != replaced.end();
    fmt::print("created {}{}\n", printable(path),
               is_replaced ? " (replaced an unusable file)" : "");
  }
  for (const std::string& path : report.files_removed)
    fmt::print("removed {} (replaced by an interrupted command)\n", printable(path));
  if (is_nothing_repaired(report)) {
    fmt::print("{}: nothing could be repaired; {} of {} stay lost.\n",
               set_title(report.before.header), report.before.lost_stripe_count,
               count_text(report.before.header.stripe_count, "stripe"));
  } else if (report.is_any_lost()) {
    fmt::print("{}: repaired in part, {} written; {} of {} stay lost.\n",
               set_title(report.before.header), count_text(report.blocks_written, "block"),
               report.before.lost_stripe_count,
               count_text(report.before.header.stripe_count, "stripe"));
  } else if (!report.originals_left.empty()) {
    fmt::print("{}: kept {} changed since protect.\n", set_title(report.before.header),
               count_text(report.originals_left.size(), "file"));
  } else if (report.before.is_good()) {
    fmt::print("{}: nothing to repair.\n", set_title(report.before.header));
  } else {
    fmt::print("{}: repaired, {} written.\n", set_title(report.before.header),
               count_text(report.blocks_written, "block"));
  }
}

bool is_all_restored(const store::RepairReport& report) {
  return report.originals_left.empty() && report.originals_blocked.empty();
}

const char* state_after(const store::RepairReport& report) {
  if (report.is_any_lost()) return "lost";
  return is_all_restored(report) ? "good" : "damaged";
}

nlohmann::ordered_json repaired_json(const store::RepairReport& report, const Rest& rest,
                                     const Result<store::UndoRepair>& outcome) {
  const store::UndoRepair older = outcome ? *outcome : store::UndoRepair();
  return {{"state", state_after(report)},
          {"set", to_json(report.before.header)},
          {"blocks_written", report.blocks_written},
          {"files_changed", report.files_changed},
          {"files_created", report.files_created},
          {"files_replaced", report.files_replaced},
          {"files_removed", report.files_removed},
          {"originals_restored", report.originals_restored},
          {"originals_left", report.originals_left},
          {"originals_blocked", report.originals_blocked},
          {"originals_lost", report.originals_lost},
          {"lost", to_json(rest.files)},
          {"lost_bytes", store::total_bytes(report.lost)},
          {"undo_journals_created", older.files_created},
          {"older_generations_lost", older.lost},
          {"older_generations_error", outcome ? "" : outcome.error().message},
          {"before", to_json(report.before)}};
}

// Reports all lost shards and stripes; the error message names only some.
Result<int> say_why_not(const FilesArguments& arguments, const HeldSet& held, const Error& error) {
  CALPE_TRY(const store::VerifyReport report,
            store::verify_set(*held.files, held.set, false, arguments.jobs));
  if (report.is_repairable()) return error;
  CALPE_CHECK(check_original_found(held.set, report));
  if (arguments.json) {
    print_json(to_json(report));
  } else {
    print_report(report);
  }
  fmt::print(stderr, "calpe repair: {}\n", printable(error.message));
  if (report.lost_stripe_count < report.header.stripe_count &&
      report.header.root_kind == store::RootKind::none)
    print_note(arguments, "--partial repairs the other stripes");
  return exit_lost;
}

// Read before the repair, which may replace files. The list may be lost itself.
Result<store::Manifest> manifest_of(const FilesArguments& arguments, const HeldSet& held) {
  CALPE_TRY(store::SetReader reader, store::SetReader::open(*held.files, held.set, arguments.jobs));
  return reader.manifest();
}

Rest find_rest(const store::RepairReport& report, const Result<store::Manifest>& manifest) {
  if (report.lost.empty()) return {};
  if (!manifest) return {.problem = manifest.error().message};
  return {.files = lost_files(*manifest, report.lost)};
}

void print_rest(const store::RepairReport& report, const Rest& rest) {
  print_lost_files("repair", rest.files, "");
  if (!rest.problem.empty()) {
    fmt::print(stderr, "calpe repair: {} bytes are lost, with the list of files: {}\n",
               store::total_bytes(report.lost), printable(rest.problem));
  }
  if (report.is_any_lost()) {
    fmt::print(stderr,
               "calpe repair: find more shards, add their directories, and run it again; calpe "
               "restore --salvage restores what is left\n");
  }
}

// Returns nothing for originals that were kept, because their blocks are not known to be good.
Margin margin_after(const RepairArguments& arguments, const store::FoundSet& set,
                    const store::RepairReport& report) {
  if (report.is_any_lost()) return {};
  if (report.before.is_good()) {
    const Result<Margin> margin = margin_of(arguments.files, set, report.before);
    return margin ? *margin : Margin();
  }
  Margin margin = margin_now(arguments.files, set.header, arguments.targets);
  if (margin) margin->basis = store::MarginBasis::blocks;  // all blocks were read or just written
  return margin;
}

// Returns an empty string unless new shards had to be put next to others.
std::string crowded_note(const store::RepairReport& report, const Margin& margin) {
  const bool is_crowded = !report.files_created.empty() && margin && margin->directory_count > 1 &&
                          margin->losses.directories == 0;
  if (!is_crowded) return {};
  return "new shards are next to others, so losing one directory may lose data; run calpe verify "
         "with these directories and an empty one on another disk, which shows how to spread them";
}

// Undo journals were lost with the shards. Nothing to do for a set that stays damaged.
Result<store::UndoRepair> repair_older(const RepairArguments& arguments,
                                       const store::RepairReport& report,
                                       const store::FoundSet& set) {
  if (report.is_any_lost() || set.header.kind != store::SetKind::shards) return store::UndoRepair();
  std::set<std::string> places = store::shard_folders(set);
  for (const std::string& path : report.files_created)
    places.insert(store::folder_of(path));
  for (const std::string& folder : named_folders(arguments.files)) {
    if (store::posix_files().list(folder)) places.insert(folder);
  }
  return store::rebuild_undo_journals(store::posix_files(), {places.begin(), places.end()},
                                      set.header);
}

void print_older(const FilesArguments& arguments, const Result<store::UndoRepair>& older) {
  if (!older) return;
  if (!arguments.json) {
    for (const std::string& path : older->files_created)
      fmt::print("created {}\n", printable(path));
  }
  for (const std::uint64_t generation : older->lost) {
    print_note(arguments, text("older generation ", generation,
                               " can no longer be restored; calpe forget --generation ", generation,
                               " removes it"));
  }
}

Result<int> repair(const RepairArguments& arguments) {
  // A pipe gives its key once, so it is read before the copy.
  CALPE_TRY(const store::RootDemand demand, demand_of(arguments.files.roots));
  FilesArguments everywhere = arguments.files;
  everywhere.targets = arguments.targets;  // an earlier repair may have filled them
  CALPE_TRY(HeldSet held, find_settled_set(everywhere));
  const store::FoundSet& set = held.set;
  store::RepairOptions options;
  options.targets = arguments.targets;
  options.named = named_folders(arguments.files);
  options.overwrite = arguments.overwrite;
  options.partial = arguments.partial;
  options.jobs = arguments.files.jobs;
  options.is_proven = demand.names_one();
  const Result<store::Manifest> manifest =
      arguments.partial ? manifest_of(arguments.files, held) : store::Manifest();
  Progress bar("repairing " + printable(set.header.name));
  options.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
  const auto report = store::repair_set(*held.files, set, options);
  bar.end();
  if (!report && report.error().code == ErrorCode::unrecoverable)
    return say_why_not(arguments.files, held, report.error());
  if (!report) return report.error();
  const Rest rest = find_rest(*report, manifest);
  held.files.reset();  // unlocks, so that the set can be found as it is now
  // Its error comes last: the repair of the newest generation is done and must be reported.
  const Result<store::UndoRepair> older = repair_older(arguments, *report, set);
  const Margin margin = margin_after(arguments, set, *report);
  if (arguments.files.json) {
    nlohmann::ordered_json json = repaired_json(*report, rest, older);
    add_margin(json, margin);
    print_json(json);
  } else {
    print_repaired(*report);
  }
  print_older(arguments.files, older);
  print_margin(arguments.files, report->before.header, margin);
  if (const std::string note = crowded_note(*report, margin); !note.empty())
    print_note(arguments.files, note);
  for (const std::string& path : report->originals_left) {
    fmt::print(
        stderr,
        "calpe repair: {} was changed since it was protected; calpe update keeps the change, "
        "--overwrite undoes it\n",
        printable(path));
  }
  for (const std::string& path : report->originals_blocked) {
    fmt::print(stderr,
               "calpe repair: {} is in the way of what was protected; move it away and run calpe "
               "repair again\n",
               printable(path));
  }
  print_rest(*report, rest);
  if (!older) {
    fmt::print(stderr,
               "calpe repair: older generations were not repaired: {}; run calpe repair again\n",
               printable(older.error().message));
    return exit_code_of(older.error().code);
  }
  if (is_nothing_repaired(*report)) return exit_lost;
  return is_all_restored(*report) && !report->is_any_lost() ? exit_ok : exit_not_ok;
}

}  // namespace

void add_repair_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RepairArguments>();
  CLI::App* const command = add_files_verb(
      app, arguments->files, "repair",
      "Repair damaged blocks and rebuild missing shards\n\n"
      "Rewrites bad blocks in place. Changes nothing if some of the damage cannot be "
      "repaired, except with --partial.");
  command->footer(std::string(exit_codes_help) +
                  "\n\nExample: calpe repair /mnt/a /mnt/b /mnt/new\n\nSee calpe-repair(1).");
  add_set_options(*command, arguments->files);
  add_jobs_option(*command, arguments->files);
  add_io_option(*command, arguments->files, "threads");
  add_key_option(*command, arguments->files.roots, "Key that the HMAC must match");
  add_expect_option(*command, arguments->files.roots);
  command
      ->add_option("-o,--output", arguments->targets,
                   "Directory for missing shards; repeatable (default: those given)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command->add_flag("--overwrite", arguments->overwrite,
                    "With kept originals: also restore files changed since protect");
  command->add_flag("--partial", arguments->partial,
                    "Repair what can be, and list the bytes that stay lost");
  command->callback([arguments, &exit_code] {
    exit_code =
        run_files_verb(arguments->files, [&](const FilesArguments&) { return repair(*arguments); });
  });
}

}  // namespace calpe::tools
