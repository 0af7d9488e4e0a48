// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <set>
#include <system_error>

#include "base/byte_count.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/files/file_verb.hpp"
#include "calpe/files/files_margin.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/generations.hpp"
#include "calpe/files/known_damage.hpp"
#include "calpe/files/original_paths.hpp"
#include "calpe/files/set_choice.hpp"
#include "calpe/files/verify_metrics.hpp"
#include "calpe/files/verify_record.hpp"
#include "calpe/verbs.hpp"
#include "store/io/names.hpp"
#include "store/read/verify_set.hpp"

namespace calpe::tools {

namespace {

constexpr std::uint64_t parts_max = 10'000;

struct VerifyArguments {
  FilesArguments files;
  bool is_deep = false;
  std::string part;  // "3/30" or "next/30"
  std::string bwlimit;
  bool is_uncached = false;
  std::string record;
  std::string metrics;
};

bool is_count(std::uint64_t number) {
  return number >= 1 && number <= parts_max;
}

Result<store::Scrub> scrub_of(const VerifyArguments& arguments, const VerifyRecord& record) {
  store::Scrub scrub;
  scrub.is_uncached = arguments.is_uncached;
  if (!arguments.bwlimit.empty()) {
    CALPE_TRY(scrub.bytes_per_second, parse_offset(arguments.bwlimit));
    if (scrub.bytes_per_second == 0) return invalid("--bwlimit is 0; expected a rate such as 50M");
  }
  if (arguments.part.empty()) return scrub;
  const std::size_t slash = arguments.part.find('/');
  const std::string first = arguments.part.substr(0, slash);
  const auto parts = slash == std::string::npos ? Result<std::uint64_t>(std::uint64_t{0})
                                                : parse_offset(arguments.part.substr(slash + 1));
  const bool is_next = first == "next";
  const auto part = is_next ? Result<std::uint64_t>(std::uint64_t{1}) : parse_offset(first);
  const bool is_good = parts && part && is_count(*parts) && *part >= 1 && *part <= *parts;
  if (!is_good) {
    return invalid("--part is \"", arguments.part,
                   "\"; expected I/N or next/N, such as 1/30, with N at most ", parts_max);
  }
  if (is_next && arguments.record.empty())
    return invalid("--part next/N needs --record, which tells the part that comes next");
  scrub.parts = *parts;
  scrub.part = is_next ? record.next_part(*parts) : *part;
  return scrub;
}

void note_copies(const FilesArguments& arguments, const store::FoundSet& set) {
  for (std::size_t index = 0; index < set.shards.size(); ++index) {
    if (set.shards[index].size() < 2) continue;
    std::vector<std::string> paths;
    for (const store::FoundShard& shard : set.shards[index])
      paths.push_back(shard.path);
    print_note(arguments,
               text("shard ", index, " was found ", paths.size(),
                    " times; one is enough: ", fmt::format("{}", fmt::join(paths, ", "))));
  }
}

// The header of such a shard is not known. Its name tells which shard it probably is.
void name_unreadable(store::VerifyReport& report,
                     const std::map<std::string, std::string>& unreadable) {
  for (store::ShardState& shard : report.shards) {
    if (!shard.path.empty()) continue;
    for (const auto& [path, error] : unreadable) {
      const bool is_named =
          path.ends_with(text(".s", store::shard_number(shard.index), ".calpe")) &&
          store::name_of(path).starts_with(report.header.name);
      if (!is_named || !shard.read_error.empty()) continue;
      shard.read_error = error;
      shard.problem = "unreadable, counts as missing: " + error;
    }
  }
}

// A read error is not damage that a repair in place can remove.
void warn_of_disks(const FilesArguments& arguments, const store::VerifyReport& report,
                   const std::map<std::string, std::string>& unreadable) {
  std::set<std::string> folders;
  for (const auto& [path, error] : unreadable) {
    if (error.ends_with(std::generic_category().message(EIO)))
      folders.insert(store::folder_of(path));
  }
  for (const store::ShardState& shard : report.shards) {
    if (!shard.read_error.empty() && !shard.path.empty())
      folders.insert(store::folder_of(shard.path));
  }
  for (const std::string& folder : folders) {
    print_note(arguments, text("WARNING: the disk of ", folder,
                               " reports read errors and may be failing; move its shards to "
                               "another disk, or run calpe repair without it and with a new one"));
  }
}

void print_part(const store::Scrub& scrub, const store::ShardHeader& header) {
  if (scrub.is_whole()) return;
  const store::StripeRun run = scrub.stripes_of(header.stripe_count);
  fmt::print("Part {} of {}: {} of {} were read.\n", scrub.part, scrub.parts, run.stripe_count,
             count_text(header.stripe_count, "stripe"));
}

void print_elsewhere(const VerifyArguments& arguments, const store::ReadDamage& elsewhere) {
  const std::uint64_t count = elsewhere.stripes.count();
  if (count == 0) return;
  fmt::print(
      "This includes {} of other parts, found damaged when last read: {}. After calpe repair, read "
      "them again with --record {}, without --part.\n",
      count_text(count, "stripe"), store::to_text(elsewhere.stripes), quoted(arguments.record));
}

Result<Margin> margin_after(const VerifyArguments& arguments, const HeldSet& held,
                            const store::Scrub& scrub, const store::VerifyReport& report,
                            const store::ReadDamage& damage) {
  if (scrub.is_whole()) return margin_of(arguments.files, held.set, report);
  if (!report.is_repairable()) return Margin();
  CALPE_TRY(Margin margin, store::margin_by_headers(*held.files, held.set,
                                                    named_folders(arguments.files), damage));
  if (margin) {
    margin->basis =
        arguments.record.empty() ? store::MarginBasis::part : store::MarginBasis::record;
  }
  return margin;
}

// Writes the files for the next run and for monitoring.
Status write_outcome(const VerifyArguments& arguments, const store::VerifyReport& report,
                     const Margin& margin, const VerifyRun& run, const VerifyRecord& record) {
  if (!arguments.record.empty()) {
    CALPE_CHECK(write_record(arguments.record, report.header, record));
  }
  if (arguments.metrics.empty()) return Done{};
  return replace_file(arguments.metrics, metrics_text(report, margin, run), Readers::as_umask_says);
}

Result<int> verify(const VerifyArguments& arguments) {
  const FilesArguments& files = arguments.files;
  CALPE_TRY(const HeldSet held, find_one_set(files));
  const store::FoundSet& set = held.set;
  VerifyRecord record;
  if (!arguments.record.empty()) {
    CALPE_TRY(record, read_record(arguments.record, set.header));
  }
  CALPE_TRY(const store::Scrub scrub, scrub_of(arguments, record));
  note_copies(files, set);
  const auto start = std::chrono::steady_clock::now();
  Progress bar("verifying " + printable(set.header.name));
  CALPE_TRY(store::VerifyReport report,
            store::verify_set(
                *held.files, set, arguments.is_deep, files.jobs,
                [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); }, scrub));
  bar.end();
  CALPE_CHECK(check_original_found(set, report));
  name_unreadable(report, held.unreadable);
  const store::StripeRun read = scrub.stripes_of(set.header.stripe_count);
  const store::ReadDamage elsewhere = store::updated(record.damage, read, {});
  record.damage = store::updated(record.damage, read, report.damage);
  CALPE_CHECK(add_damage(report, set, elsewhere));
  CALPE_TRY(const Margin margin, margin_after(arguments, held, scrub, report, record.damage));
  CALPE_TRY(const auto older, store::check_older(*held.files, held.older, scrub.is_whole()));
  VerifyRun run;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.end_time = std::time(nullptr);
  run.is_newer_lost = held.newer_lost != 0;
  record.add(scrub.part, scrub.parts, run.end_time);
  if (!arguments.record.empty()) run.complete_time = record.complete_time;
  if (files.json) {
    nlohmann::ordered_json json = to_json(report);
    add_margin(json, margin);
    json["hmac"] = hmac_state_name(report.header, files.roots);
    json["part"] = scrub.part;
    json["parts"] = scrub.parts;
    json["recorded_bad_stripes"] = elsewhere.stripes.count();
    json["older_generations"] = to_json(older);
    json["newer_generation_lost"] = nullptr;
    if (run.is_newer_lost) {
      json["state"] = "lost";
      json["newer_generation_lost"] = held.newer_lost;
    }
    if (run.complete_time) json["completely_verified_since"] = *run.complete_time;
    print_json(json);
  } else {
    print_report(report, needs_new_directory(files, report, margin));
    if (run.is_newer_lost) {
      fmt::print("LOST: generation {} is newer and cannot be restored; this is an older state.\n",
                 held.newer_lost);
    }
    print_part(scrub, report.header);
    print_elsewhere(arguments, elsewhere);
    if (run.complete_time)
      fmt::print("Every part was verified since: {}\n",
                 *run.complete_time == 0 ? "never" : utc_text(*run.complete_time) + " UTC");
    if (const std::string root = root_text(report.header, files.roots); !root.empty())
      fmt::print("{}\n", root);
  }
  print_margin(files, report.header, margin);
  warn_of_disks(files, report, held.unreadable);
  const bool is_older_read = !held.has_unread_undo || !files.generation.empty();
  const bool is_older_good = report_older(files, older) && is_older_read;
  CALPE_CHECK(write_outcome(arguments, report, margin, run, record));
  if (run.is_newer_lost) return exit_lost;
  return std::max<int>(exit_code_of(report), is_older_good ? exit_ok : exit_not_ok);
}

}  // namespace

void add_verify_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* const command = add_files_verb(
      app, arguments->files, "verify",
      "Check every block of a set and report damage\n\n"
      "Reads all shards, changes nothing, and reports whether damage can be repaired. "
      "Shards are found by their headers; file names do not matter.");
  command->footer(std::string(exit_codes_help) +
                  "\n\nExample: calpe verify /mnt/a /mnt/b /mnt/c\n\nSee calpe-verify(1).");
  add_set_options(*command, arguments->files);
  add_jobs_option(*command, arguments->files);
  add_io_option(*command, arguments->files, "threads");
  command->add_flag("--deep", arguments->is_deep, "Also recompute parity and compare it");
  command
      ->add_option("--part", arguments->part,
                   "Check part I of N only, or with --record the next one (next/N)")
      ->type_name("I/N");
  command
      ->add_option("--bwlimit", arguments->bwlimit,
                   "Read at most this many bytes per second, such as 50M")
      ->type_name("BYTES");
  command->add_flag("--uncached", arguments->is_uncached,
                    "Read from the disks instead of the page cache");
  command
      ->add_option("--record", arguments->record,
                   "File that remembers when each part was last verified")
      ->type_name("FILE");
  command
      ->add_option("--metrics", arguments->metrics,
                   "Also write the result to this file, for Prometheus")
      ->type_name("FILE");
  add_generation_option(*command, arguments->files,
                        "Check this older generation, or \"previous\" (default: the newest)");
  add_key_option(*command, arguments->files.roots, "Key that the HMAC must match");
  add_expect_option(*command, arguments->files.roots);
  command->callback([arguments, &exit_code] {
    exit_code =
        run_files_verb(arguments->files, [&](const FilesArguments&) { return verify(*arguments); });
  });
}

}  // namespace calpe::tools
