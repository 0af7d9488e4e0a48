// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/cli/progress_bar.hpp"
#include "calpe/files/code_text.hpp"
#include "calpe/files/file_verb.hpp"
#include "calpe/files/files_margin.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/set_choice.hpp"
#include "calpe/verbs.hpp"
#include "store/change/add_parity.hpp"
#include "store/format/extended_spec.hpp"
#include "store/format/geometry.hpp"

namespace calpe::tools {

namespace {

struct AddParityArguments {
  FilesArguments files;
  unsigned parity = 0;
  std::vector<std::string> targets;
};

std::vector<std::string> folders_of(const store::FoundSet& set) {
  std::vector<std::string> folders;
  std::set<std::string> seen;
  for (const auto& copies : set.shards) {
    for (const store::FoundShard& shard : copies) {
      const std::string folder = store::folder_of(shard.path);
      if (seen.insert(folder).second) folders.push_back(folder);
    }
  }
  return folders;
}

// Shell commands that rewrite the set.
std::string rewriting_commands(const store::FoundSet& set, unsigned parity) {
  const store::ShardHeader& header = set.header;
  std::string places;
  std::string targets;
  for (const std::string& folder : folders_of(set)) {
    places += " " + quoted(folder);
    targets += " -o " + quoted(folder);
  }
  const std::string kept = quoted(header.name + ".restored");
  std::string groups;
  if (header.spec.local_groups != 0) groups = fmt::format(" --groups {}", header.spec.local_groups);
  return fmt::format(
      "calpe restore{} --uuid {} -o {} && calpe protect {} --data {} --parity {} --profile {}{} "
      "--name {}{} --overwrite",
      places, uuid_text(header.uuid).substr(0, 8), kept, kept, header.spec.data_shards, parity,
      profile_name(header.spec), groups, quoted(header.name), targets);
}

Status check_extendable(const store::FoundSet& set, unsigned parity) {
  const CodeSpec& spec = set.header.spec;
  CALPE_TRY(const std::optional<CodeSpec> extended, store::extended_spec(spec, parity));
  if (extended) return Done{};
  return invalid("profile ", profile_name(spec), ": the parity of ", spec.data_shards, "+",
                 spec.parity_shards, " is not part of the parity of ", spec.data_shards, "+",
                 parity, ", so the set must be rewritten: ", rewriting_commands(set, parity));
}

void print_added(const store::AddParityReport& report, const std::vector<std::string>& places) {
  for (const std::string& path : report.files_created)
    fmt::print("created {}\n", printable(path));
  fmt::print("{}: added {} of {} each.\n", set_title(report.after),
             count_text(report.files_created.size(), "shard"),
             bytes_text(store::shard_file_bytes(report.after)));
  std::string words;
  for (const std::string& place : places)
    words += " " + place;
  fmt::print("{} To check them: calpe verify{}\n", losses_text(report.after.spec),
             printable(words));
}

nlohmann::ordered_json added_json(const store::AddParityReport& report) {
  return {{"set", to_json(report.after)},
          {"before", to_json(report.before)},
          {"shard_bytes", store::shard_file_bytes(report.after)},
          {"files_created", report.files_created},
          {"files_replaced", report.files_replaced}};
}

Result<int> run_add_parity(const AddParityArguments& arguments) {
  CALPE_TRY(HeldSet held, find_settled_set(arguments.files));
  const store::FoundSet& set = held.set;
  CALPE_CHECK(check_extendable(set, arguments.parity));
  store::AddParityOptions options;
  options.parity_shards = arguments.parity;
  options.targets = arguments.targets;
  options.named = named_folders(arguments.files);
  options.jobs = arguments.files.jobs;
  Progress bar("adding parity to " + printable(set.header.name));
  options.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
  const auto made = store::add_parity(*held.files, set, options);
  bar.end();
  if (!made && made.error().code == ErrorCode::corrupt)
    return say_damaged(arguments.files, made.error());
  if (!made) return made.error();
  const store::AddParityReport& report = *made;
  held.files.reset();  // unlocks, so that the set can be found as it is now
  const Margin margin = margin_now(arguments.files, report.after, arguments.targets);
  if (arguments.files.json) {
    nlohmann::ordered_json json = added_json(report);
    add_margin(json, margin);
    print_json(json);
    print_margin(arguments.files, report.after, margin);
    return exit_ok;
  }
  std::vector<std::string> places = folders_of(set);
  for (const std::string& target : arguments.targets) {
    if (std::find(places.begin(), places.end(), target) == places.end()) places.push_back(target);
  }
  print_added(report, places);
  print_margin(arguments.files, report.after, margin);
  return exit_ok;
}

}  // namespace

void add_add_parity_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<AddParityArguments>();
  CLI::App* const command = add_files_verb(app, arguments->files, "add-parity",
                                           "Add parity shards to a set\n\n"
                                           "Reads the data and does not rewrite it. If the code "
                                           "would change the existing parity, prints "
                                           "the commands that rewrite the set instead.");
  command->footer(std::string(exit_codes_help) +
                  "\n\nExample: calpe add-parity /mnt/a /mnt/b /mnt/c --parity 4 -o /mnt/d\n\n"
                  "See calpe-add-parity(1).");
  add_set_options(*command, arguments->files);
  command->remove_option(command->get_option("--original"));  // for shards only
  command->add_option("--parity", arguments->parity, "New number of parity shards, m")
      ->required()
      ->check(CLI::Range(1U, 255U));
  add_jobs_option(*command, arguments->files);
  command
      ->add_option("-o,--output", arguments->targets,
                   "Directory for new shards; repeatable (default: those given)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command->callback([arguments, &exit_code] {
    exit_code = run_files_verb(arguments->files,
                               [&](const FilesArguments&) { return run_add_parity(*arguments); });
  });
}

}  // namespace calpe::tools
