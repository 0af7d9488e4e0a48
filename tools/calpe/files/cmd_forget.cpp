// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress_bar.hpp"
#include "calpe/files/file_verb.hpp"
#include "calpe/files/files_margin.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/generations.hpp"
#include "calpe/files/set_choice.hpp"
#include "calpe/verbs.hpp"
#include "store/find/older_generations.hpp"

namespace calpe::tools {

namespace {

struct ForgetArguments {
  FilesArguments files;
  std::optional<unsigned> keep;
  std::optional<std::uint64_t> generation;
};

Status check_choice(const ForgetArguments& arguments) {
  if (arguments.keep || arguments.generation) return Done{};
  return invalid("no generations chosen; give --keep N or --generation NUMBER (--keep 1 removes ",
                 "all older generations)");
}

// Takes the numbers newest first. Fails if --generation is another number.
Result<std::set<std::uint64_t>> kept_numbers(const ForgetArguments& arguments,
                                             const std::vector<std::uint64_t>& numbers) {
  const bool is_there = !arguments.generation || std::find(numbers.begin(), numbers.end(),
                                                           *arguments.generation) != numbers.end();
  if (!is_there) {
    return invalid("--generation is ", *arguments.generation,
                   "; expected an older generation that calpe info lists");
  }
  std::set<std::uint64_t> kept;
  for (const std::uint64_t number : numbers) {
    const bool is_kept = arguments.generation ? number > *arguments.generation
                                              : kept.size() + 1 < arguments.keep.value_or(1);
    if (is_kept) kept.insert(number);
  }
  return kept;
}

Result<std::uint64_t> undo_bytes(const HeldSet& held, const std::set<std::string>& folders) {
  CALPE_TRY(const auto journals,
            store::list_undo_journals(*held.files, held.set.header.uuid, folders));
  std::uint64_t bytes = 0;
  for (const store::UndoJournal& journal : journals)
    bytes += journal.bytes;
  return bytes;
}

Result<int> forget(const ForgetArguments& arguments) {
  CALPE_CHECK(check_choice(arguments));
  CALPE_TRY(const HeldSet held, find_settled_set(arguments.files));
  std::set<std::string> folders = store::shard_folders(held.set);
  for (const std::string& folder : named_folders(arguments.files)) {
    if (held.files->list(folder)) folders.insert(folder);
  }
  CALPE_TRY(const std::vector<std::uint64_t> numbers, held.older_numbers);
  CALPE_TRY(const std::set<std::uint64_t> kept, kept_numbers(arguments, numbers));
  CALPE_TRY(const std::uint64_t before, undo_bytes(held, folders));
  CALPE_TRY([[maybe_unused]] const std::size_t removed,
            store::remove_undo_journals(
                *held.files, held.set.header.uuid, folders,
                [&](const store::UndoStep& step) { return kept.contains(step.before); }));
  CALPE_TRY(const std::uint64_t after, undo_bytes(held, folders));
  const std::size_t forgotten = numbers.size() - kept.size();
  if (arguments.files.json) {
    print_json({{"set", to_json(held.set.header)},
                {"forgotten", forgotten},
                {"older_generations", kept.size()},
                {"freed_bytes", before - after},
                {"undo_bytes", after}});
    return exit_ok;
  }
  fmt::print("{}: {} forgotten, {} freed; {} left.\n", set_title(held.set.header),
             count_text(forgotten, "older generation"), bytes_text(before - after), kept.size());
  return exit_ok;
}

}  // namespace

void add_forget_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ForgetArguments>();
  CLI::App* const command = add_files_verb(
      app, arguments->files, "forget",
      "Remove older generations of a set to free space\n\n"
      "Removes undo journals that calpe update wrote. The newest generation stays as it is. "
      "Needs --keep or --generation.");
  command->footer(std::string(exit_codes_help) +
                  "\n\nExample: calpe forget /mnt/a /mnt/b /mnt/c --keep 2\n\nSee "
                  "calpe-forget(1).");
  add_set_options(*command, arguments->files);
  add_key_option(*command, arguments->files.roots, "Key that the HMAC must match");
  add_expect_option(*command, arguments->files.roots);
  CLI::Option* const keep =
      command->add_option("--keep", arguments->keep, "Generations to keep, with the newest")
          ->type_name("N")
          ->check(CLI::Range(1U, 1000U));
  command
      ->add_option("--generation", arguments->generation,
                   "Remove this generation and all older ones")
      ->type_name("NUMBER")
      ->excludes(keep);
  command->callback([arguments, &exit_code] {
    exit_code =
        run_files_verb(arguments->files, [&](const FilesArguments&) { return forget(*arguments); });
  });
}

}  // namespace calpe::tools
