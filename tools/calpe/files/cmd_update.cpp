// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/cli/progress_bar.hpp"
#include "calpe/files/file_verb.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/set_choice.hpp"
#include "calpe/verbs.hpp"
#include "store/change/update_in_place.hpp"
#include "store/change/update_set.hpp"

namespace calpe::tools {

namespace {

namespace fs = std::filesystem;

struct UpdateArguments {
  FilesArguments files;
  std::string source;
  std::vector<std::string> exclude;
  bool checksum = false;
  bool dry_run = false;
  bool replace_all = false;
  unsigned removed_percent_max = store::removed_percent_usual;
  std::optional<unsigned> keep;
};

constexpr unsigned keep_usual = 2;

// Refuses shards inside the source: they would look like new files.
Status check_shards_outside(const std::string& source, const store::FoundSet& set) {
  std::error_code error;
  const fs::path tree = fs::weakly_canonical(source, error);
  for (const auto& copies : set.shards) {
    for (const store::FoundShard& shard : copies) {
      const fs::path path = fs::weakly_canonical(shard.path, error);
      const auto [end, in_path] = std::mismatch(tree.begin(), tree.end(), path.begin(), path.end());
      if (end == tree.end())
        return invalid(shard.path, " is inside ", source, ", which it protects; move it elsewhere");
    }
  }
  return Done{};
}

std::string shown_entry(const std::string& path) {
  return path.empty() ? "." : printable(path);
}

void print_list(const char* what, const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    fmt::print("{} {}\n", what, shown_entry(path));
}

// `missing`: ", but 2 of 6 shards are missing", or empty.
void print_updated(const UpdateArguments& arguments, const store::UpdateReport& report,
                   const std::string& missing) {
  const std::string title = set_title(report.header);
  if (arguments.dry_run) {
    print_list("add     ", report.added);
    print_list("change  ", report.changed);
    print_list("remove  ", report.removed);
    print_list("metadata", report.metadata);
  }
  if (!report.is_anything_changed()) {
    fmt::print("{}: nothing changed{}.\n", title, missing);
    return;
  }
  fmt::print("{}: {} added, {} changed, {} removed, {} with new metadata, {} unchanged.\n", title,
             report.added.size(), report.changed.size(), report.removed.size(),
             report.metadata.size(), report.unchanged);
  if (arguments.dry_run) return;
  fmt::print("{} updated in part, {} encoded again; {} of blocks written.\n",
             count_text(report.stripes.by_delta, "stripe"), report.stripes.by_encode,
             bytes_text(report.block_bytes_written));
  if (report.undo_bytes != 0)
    fmt::print("{} for older generations; calpe info lists them.\n", bytes_text(report.undo_bytes));
  if (report.header.root_kind != store::RootKind::none)
    fmt::print("Root {}\n", store::to_text(report.header.set_root));
}

nlohmann::ordered_json updated_json(const UpdateArguments& arguments,
                                    const store::UpdateReport& report,
                                    const std::vector<std::string>& notes) {
  return {{"set", to_json(report.header)},
          {"dry_run", arguments.dry_run},
          {"added", report.added},
          {"changed", report.changed},
          {"removed", report.removed},
          {"removed_percent", report.removed_percent},
          {"metadata", report.metadata},
          {"unchanged", report.unchanged},
          {"skipped", report.skipped},
          {"stripes_by_delta", report.stripes.by_delta},
          {"stripes_by_encode", report.stripes.by_encode},
          {"stripes_same", report.stripes.same},
          {"blocks_written", report.stripes.blocks_written},
          {"block_bytes_written", report.block_bytes_written},
          {"shard_bytes_read", report.stripes.shard_bytes_read},
          {"file_bytes_read", report.file_bytes_read},
          {"data_bytes", report.data_bytes},
          {"unused_bytes", report.unused_bytes},
          {"undo_bytes", report.undo_bytes},
          {"notes", notes}};
}

void add_skipped(std::vector<std::string>& notes, const std::vector<std::string>& skipped) {
  for (const std::string& path : skipped)
    notes.push_back(store::skipped_text(path));
}

void add_refusal(std::vector<std::string>& notes, const UpdateArguments& arguments,
                 unsigned removed_percent) {
  if (!arguments.dry_run || removed_percent <= arguments.removed_percent_max) return;
  notes.push_back(
      fmt::format("{} % of the set would be removed; the update needs --allow-removing {}",
                  removed_percent, removed_percent));
}

std::vector<std::string> notes_on(const UpdateArguments& arguments,
                                  const store::UpdateReport& report) {
  std::vector<std::string> notes;
  add_skipped(notes, report.skipped);
  for (const std::string& pattern : report.unused_exclude)
    notes.push_back(text("--exclude ", pattern, " matches nothing"));
  add_refusal(notes, arguments, report.removed_percent);
  if (report.unused_bytes > report.data_bytes / 2) {
    notes.push_back(
        fmt::format("{} of {} in the shards is data of deleted files; calpe protect --overwrite "
                    "frees the space",
                    bytes_text(report.unused_bytes), bytes_text(report.data_bytes)));
  }
  return notes;
}

void add_unchecked(std::vector<std::string>& notes, const std::vector<std::string>& unchecked) {
  constexpr std::size_t shown_most = 10;
  for (std::size_t i = 0; i < std::min(unchecked.size(), shown_most); ++i) {
    notes.push_back(text(printable(unchecked[i]),
                         " shares blocks with changed files, and too few old blocks are left to ",
                         "check it; its size and time are unchanged"));
  }
  if (unchecked.size() > shown_most)
    notes.push_back(fmt::format("so do {} more files", unchecked.size() - shown_most));
}

void print_updated(const UpdateArguments& arguments, const store::UpdatedOriginals& updated) {
  const std::string title = set_title(updated.header);
  if (arguments.dry_run) {
    print_list("add     ", updated.added);
    print_list("change  ", updated.changed);
    print_list("remove  ", updated.removed);
    print_list("metadata", updated.metadata);
  }
  const std::size_t changes = updated.added.size() + updated.changed.size() +
                              updated.removed.size() + updated.metadata.size();
  if (changes == 0 && updated.paths.empty()) {
    fmt::print("{}: nothing changed.\n", title);
    return;
  }
  fmt::print("{}: {} added, {} changed, {} removed, {} with new metadata", title,
             updated.added.size(), updated.changed.size(), updated.removed.size(),
             updated.metadata.size());
  const std::string files = count_text(updated.paths.size(), "parity file");
  if (arguments.dry_run) {
    fmt::print(".\n");
  } else if (updated.is_all_encoded) {
    fmt::print("; {} rebuilt.\n", files);
  } else {
    fmt::print("; {} of {} encoded again in {}.\n", updated.stripes_encoded,
               count_text(updated.header.stripe_count, "stripe"), files);
  }
}

nlohmann::ordered_json updated_json(const UpdateArguments& arguments,
                                    const store::UpdatedOriginals& updated,
                                    const std::vector<std::string>& notes) {
  return {{"set", to_json(updated.header)},
          {"dry_run", arguments.dry_run},
          {"added", updated.added},
          {"changed", updated.changed},
          {"removed", updated.removed},
          {"removed_percent", updated.removed_percent},
          {"metadata", updated.metadata},
          {"skipped", updated.skipped},
          {"unchecked", updated.unchecked},
          {"parity_files", updated.paths},
          {"parity_rebuilt", updated.is_all_encoded},
          {"stripes_by_encode", updated.stripes_encoded},
          {"file_bytes_read", updated.file_bytes_read},
          {"notes", notes}};
}

// Updates the parity files of kept originals.
Result<int> update_parity(const UpdateArguments& arguments, const HeldSet& held) {
  const store::FoundSet& set = held.set;
  if (!arguments.exclude.empty())
    return invalid("--exclude does not work with a set made by --keep-original");
  if (arguments.keep.value_or(1) > 1)
    return invalid("--keep does not work with a set made by --keep-original");
  store::UpdateOriginalsOptions options;
  options.jobs = arguments.files.jobs;
  options.checksum = arguments.checksum;
  options.dry_run = arguments.dry_run;
  options.removed_percent_max = arguments.removed_percent_max;
  Progress bar("updating " + printable(set.header.name));
  options.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
  const auto updated = store::update_originals(*held.files, set, options);
  bar.end();
  if (!updated && updated.error().code == ErrorCode::corrupt)
    return say_damaged(arguments.files, updated.error());
  if (!updated) return updated.error();
  std::vector<std::string> notes;
  add_skipped(notes, updated->skipped);
  add_unchecked(notes, updated->unchecked);
  add_refusal(notes, arguments, updated->removed_percent);
  for (const std::string& note : notes)
    print_note(arguments.files, note);
  if (arguments.files.json) {
    print_json(updated_json(arguments, *updated, notes));
  } else {
    print_updated(arguments, *updated);
  }
  return exit_ok;
}

Result<int> update_shards(const UpdateArguments& arguments, const HeldSet& held) {
  const store::FoundSet& set = held.set;
  CALPE_CHECK(check_shards_outside(arguments.source, set));
  store::UpdateOptions options;
  options.jobs = arguments.files.jobs;
  options.checksum = arguments.checksum;
  options.exclude = arguments.exclude;
  options.dry_run = arguments.dry_run;
  options.older_kept = arguments.keep.value_or(keep_usual) - 1;
  options.removed_percent_max = arguments.removed_percent_max;
  CALPE_TRY(const store::RootDemand demand, demand_of(arguments.files.roots));
  options.key = demand.key;
  Progress bar("updating " + printable(set.header.name));
  options.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
  const auto report = store::update_set(*held.files, set, arguments.source, options);
  bar.end();
  if (!report && report.error().code == ErrorCode::corrupt)
    return say_damaged(arguments.files, report.error());
  if (!report) {
    const Error& error = report.error();
    if (!is_below_source(arguments.files, error)) return error;
    return make_error(error.code, error.message,
                      "; --exclude leaves it out, and out of the new generation of the set");
  }
  // Only a dry run, or one without changes, gets here with missing shards.
  const std::size_t missing_count = set.expected() - set.present();
  const std::string missing = missing_count == 0 ? ""
                                                 : fmt::format("{} of {} shards are missing",
                                                               missing_count, set.expected());
  const std::vector<std::string> notes = notes_on(arguments, *report);
  for (const std::string& note : notes)
    print_note(arguments.files, note);
  if (arguments.files.json) {
    print_json(updated_json(arguments, *report, notes));
  } else {
    print_updated(arguments, *report, missing.empty() ? "" : ", but " + missing);
  }
  if (missing.empty()) return exit_ok;
  print_note(arguments.files, missing + "; run calpe repair");
  return exit_not_ok;
}

Result<int> update(UpdateArguments arguments) {
  if (arguments.source == "-")
    return invalid(
        "the source is standard input; expected a file or directory; use calpe protect instead");
  if (arguments.replace_all) arguments.removed_percent_max = 100;
  // A dry run changes nothing; it reads an interrupted change as if it were complete.
  CALPE_TRY(const HeldSet held,
            arguments.dry_run ? find_one_set(arguments.files) : find_settled_set(arguments.files));
  const bool is_parity = held.set.header.kind == store::SetKind::originals;
  return is_parity ? update_parity(arguments, held) : update_shards(arguments, held);
}

}  // namespace

void add_update_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<UpdateArguments>();
  CLI::App* const command = add_files_verb(
      app, arguments->files, "update",
      "Update a set to the current state of its files\n\n"
      "Reads only files whose size or time changed and writes only blocks that differ. If it is "
      "interrupted, the set is either the old or the new one. For sets made with --keep-original, "
      "the parity of changed stripes is encoded again.");
  command->footer(std::string(exit_codes_help) +
                  "\n\nExample: calpe update photos /mnt/a /mnt/b /mnt/c\n\nSee calpe-update(1).");
  command->add_option("SOURCE", arguments->source, "File or directory that was protected")
      ->type_name("FILE")
      ->required();
  add_set_options(*command, arguments->files);
  command->remove_option(command->get_option("--original"));  // is the source
  add_jobs_option(*command, arguments->files);
  add_key_option(*command, arguments->files.roots, "Key to check and renew the HMAC");
  add_expect_option(*command, arguments->files.roots);
  command
      ->add_option("--exclude", arguments->exclude,
                   "Leave out this file or directory, as in protect; repeatable")
      ->type_name("PATH")
      ->allow_extra_args(false);
  command
      ->add_option("--keep", arguments->keep,
                   "Generations to keep restorable, with the new one (default: 2)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000U));
  command->add_flag("--dry-run", arguments->dry_run, "List the changes and write nothing");
  command->add_flag("--checksum", arguments->checksum,
                    "Compare file contents instead of size and time");
  command
      ->add_option("--allow-removing", arguments->removed_percent_max,
                   "Largest share of entries or bytes that may be removed (default: 50)")
      ->type_name("PERCENT")
      ->check(CLI::Range(0U, 100U));
  command->add_flag("--replace-all", arguments->replace_all, "Same as --allow-removing 100");
  command->callback([arguments, &exit_code] {
    arguments->files.original = arguments->source;
    exit_code =
        run_files_verb(arguments->files, [&](const FilesArguments&) { return update(*arguments); });
  });
}

}  // namespace calpe::tools
