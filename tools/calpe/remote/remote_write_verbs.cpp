// SPDX-License-Identifier: Apache-2.0
// calpe remote protect and update.
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "base/byte_count.hpp"
#include "base/divide_up.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/cli/progress_bar.hpp"
#include "calpe/files/code_text.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/remote/remote_verbs.hpp"
#include "remote/set/remote_write.hpp"

namespace calpe::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t name_bytes_max = 200;

struct ProtectArguments {
  RemoteArguments remote;
  std::string source;
  unsigned data = 4;
  unsigned parity = 2;
  std::string profile = "default";
  std::string segment;
  remote::ProtectOptions options;
  bool no_resume = false;
};

struct UpdateArguments {
  RemoteArguments remote;
  std::string source;
  remote::UpdateOptions options;
};

Status check_source(const std::string& source) {
  if (source != "-") return Done{};
  return invalid("standard input cannot be protected on remote places; write it to a file first");
}

Result<std::string> name_of(const std::string& source, std::string name) {
  if (name.empty()) {
    std::error_code error;
    const fs::path whole = fs::canonical(source, error);
    if (error) return make_error(ErrorCode::io, "cannot read ", source, ": ", error.message());
    name = whole.filename().empty() ? "root" : whole.filename().string();
  }
  if (name.size() <= name_bytes_max && name.find('/') == std::string::npos && name != "." &&
      name != "..")
    return name;
  return invalid("the name is \"", name, "\"; expected at most ", name_bytes_max,
                 " bytes and no slash; change it with --name");
}

Result<std::uint64_t> segment_bytes_of(const std::string& words) {
  if (words.empty()) return std::uint64_t{0};
  const auto bytes = parse_bytes(words);
  constexpr std::size_t least = 4096;
  constexpr std::size_t most = std::size_t{32} << 20U;
  if (bytes && *bytes >= least && *bytes <= most) return std::uint64_t{*bytes};
  return invalid("--segment is \"", words, "\"; expected a size from 4K to 32M");
}

nlohmann::ordered_json written_json(const remote::WriteReport& report) {
  auto unreadable = nlohmann::ordered_json::array();
  for (const auto& file : report.unreadable)
    unreadable.push_back({{"path", file.path}, {"why", file.why}});
  return {{"set", to_json(report.generation.header)},
          {"segment_bytes", report.generation.segment_bytes},
          {"segments_written", report.segments_written},
          {"objects_written", report.objects_written},
          {"bytes_written", report.bytes_written},
          {"resumed", report.is_resumed},
          {"changed", report.is_changed},
          {"added_paths", report.added},
          {"changed_paths", report.changed},
          {"removed_paths", report.removed},
          {"generations_forgotten", report.forgotten.generations},
          {"bytes_forgotten", report.forgotten.bytes},
          {"segments_healed", report.segments_healed},
          {"segments_lost", report.segments_lost},
          {"generations_lost", report.generations_lost},
          {"skipped", report.skipped},
          {"unreadable", unreadable}};
}

int print_exceptions(const RemoteArguments& arguments, const remote::WriteReport& report) {
  for (const std::string& path : report.skipped)
    print_remote_note(arguments, store::skipped_text(path));
  for (const auto& file : report.unreadable)
    fmt::print(stderr, "calpe remote {}: {} is not protected: {}\n", arguments.verb,
               printable(file.path), printable(file.why));
  return report.unreadable.empty() ? exit_ok : exit_not_ok;
}

Result<int> protect(ProtectArguments arguments) {
  remote::ProtectOptions& options = arguments.options;
  CALPE_CHECK(check_source(arguments.source));
  CALPE_TRY(options.name, name_of(arguments.source, options.name));
  CALPE_TRY(options.segment_bytes, segment_bytes_of(arguments.segment));
  CALPE_TRY(options.spec, find_profile(arguments.profile));
  if (options.spec.layout != Layout::bytes || options.spec.family == CodeFamily::lrc)
    return invalid("--profile ", arguments.profile,
                   " cannot be used here; expected one with the bytes layout that needs no groups");
  options.spec.data_shards = arguments.data;
  options.spec.parity_shards = arguments.parity;
  options.may_resume = !arguments.no_resume;
  CALPE_TRY(options.write.change, change_options(arguments.remote));
  CALPE_TRY(remote::Places places, reach_places(arguments.remote));
  Progress bar("protecting " + printable(options.name));
  options.write.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
  CALPE_TRY(const remote::WriteReport report,
            remote::protect_on_places(places, arguments.source, options));
  bar.end();
  if (arguments.remote.json) {
    nlohmann::ordered_json json = written_json(report);
    json["place_count"] = places.size();
    json["places_may_fail"] = report.places_may_fail;
    print_json(json);
    return print_exceptions(arguments.remote, report);
  }
  const remote::Generation& made = report.generation;
  fmt::print("{}: {}, {} in {} on {}; {} uploaded.\n", remote_title(made),
             count_text(report.files, "file"), bytes_text(made.header.content_bytes),
             count_text(made.data.size() + made.manifest.size(), "segment"),
             count_text(places.size(), "place"), bytes_text(report.bytes_written));
  if (report.is_resumed) fmt::print("Resumed an interrupted run.\n");
  fmt::print("{}\n", losses_text(report.places_may_fail, places.size()));
  if (report.places_needed != 0) {
    print_remote_note(arguments.remote,
                      text("with ", report.places_needed, " places, any one may be lost"));
  }
  return print_exceptions(arguments.remote, report);
}

// What became of segments that were lost.
void print_healed(const RemoteArguments& arguments, const remote::WriteReport& report) {
  if (report.segments_healed != 0 && !arguments.json) {
    fmt::print("Uploaded {} again.\n", count_text(report.segments_healed, "lost segment"));
  }
  for (const std::uint64_t generation : report.generations_lost) {
    print_remote_note(arguments,
                      text("generation ", generation,
                           " cannot be restored completely: the files have other content now; "
                           "calpe remote forget --keep 1 removes it"));
  }
}

Result<int> update(UpdateArguments arguments) {
  CALPE_CHECK(check_source(arguments.source));
  CALPE_TRY(arguments.options.write.change, change_options(arguments.remote));
  CALPE_TRY(remote::Places places, reach_places(arguments.remote));
  CALPE_TRY(const remote::RemoteSet set, choose_set(places, arguments.remote));
  Progress bar("updating");
  remote::UpdateOptions& options = arguments.options;
  options.write.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
  const auto done = remote::update_on_places(places, set, arguments.source, options);
  bar.end();
  if (!done && done.error().code == ErrorCode::corrupt) {
    // Repairable damage has exit code 1, as in calpe update.
    fmt::print(stderr, "calpe remote update: {}\n", printable(done.error().message));
    if (arguments.remote.json)
      print_json({{"error", done.error().message}, {"exit_code", exit_not_ok}});
    return exit_not_ok;
  }
  if (!done) return done.error();
  const remote::WriteReport& report = *done;
  print_healed(arguments.remote, report);
  if (arguments.remote.json) {
    print_json(written_json(report));
    return print_exceptions(arguments.remote, report);
  }
  if (options.dry_run) {
    for (const std::string& path : report.added)
      fmt::print("add      {}\n", printable(path));
    for (const std::string& path : report.changed)
      fmt::print("change   {}\n", printable(path));
    for (const std::string& path : report.removed)
      fmt::print("remove   {}\n", printable(path));
  }
  if (!report.is_changed) {
    fmt::print("{}: nothing changed.\n", remote_title(report.generation));
    return print_exceptions(arguments.remote, report);
  }
  fmt::print(
      "{}: {} added, {} changed, {} removed; {} of {} written, {} uploaded.\n",
      remote_title(report.generation), report.added.size(), report.changed.size(),
      report.removed.size(), report.segments_written,
      count_text(report.generation.data.size() + report.generation.manifest.size(), "segment"),
      bytes_text(report.bytes_written));
  if (report.forgotten.generations != 0)
    fmt::print("Forgot {}, {}.\n", count_text(report.forgotten.generations, "older generation"),
               bytes_text(report.forgotten.bytes));
  return print_exceptions(arguments.remote, report);
}

void add_exclude_option(CLI::App& verb, remote::WriteOptions& options) {
  verb.add_option("--exclude", options.exclude,
                  "Leave out this file or directory; may contain * ? [...] and be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
}

}  // namespace

void add_remote_protect(CLI::App& remote, int& exit_code) {
  auto arguments = std::make_shared<ProtectArguments>();
  CLI::App* const verb = add_remote_verb(
      remote, arguments->remote, "protect",
      "Split a file or directory into shards on several places\n\n"
      "Writes k data shards and m parity shards, of which any k restore everything. The shards go "
      "to the places in turn. Run an interrupted protect again: it resumes.",
      "Example: calpe remote protect photos --data 2 --parity 1 -o s3://one/p -o s3://b@two/p "
      "-o rclone:three:p");
  verb->add_option("SOURCE", arguments->source, "File or directory")->type_name("FILE")->required();
  verb->add_option("-o,--output", arguments->remote.places,
                   "Place: a directory, s3://BUCKET/PREFIX or rclone:REMOTE:PATH; repeatable")
      ->type_name("PLACE")
      ->allow_extra_args(false)
      ->required();
  verb->add_option("--data", arguments->data, "Data shards, k; any k shards restore everything")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1U, 255U));
  verb->add_option("--parity", arguments->parity, "Parity shards, m; any m shards may be lost")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1U, 255U));
  verb->add_option("--profile", arguments->profile, "Code, one of those that calpe codes lists")
      ->type_name("PROFILE")
      ->capture_default_str();
  verb->add_option("--segment", arguments->segment,
                   "Content of one upload (default: 1/256 of the data, 1M to 32M)")
      ->type_name("BYTES");
  verb->add_option("--name", arguments->options.name,
                   "Name of the set (default: last part of the path)")
      ->type_name("NAME");
  add_exclude_option(*verb, arguments->options.write);
  add_read_back_flag(*verb, arguments->options.write.reads_back);
  add_take_over_option(*verb, arguments->remote);
  verb->add_flag("--no-resume", arguments->no_resume,
                 "Start over instead of resuming an interrupted run");
  verb->callback([arguments, &exit_code] {
    exit_code = run_remote_verb(arguments->remote, [&] { return protect(*arguments); });
  });
}

void add_remote_update(CLI::App& remote, int& exit_code) {
  auto arguments = std::make_shared<UpdateArguments>();
  CLI::App* const verb = add_remote_verb(
      remote, arguments->remote, "update",
      "Bring a set on places to the current state of its files\n\n"
      "Reads only segments with files whose size or time changed, and uploads those that differ. "
      "Segments that are lost are uploaded again. The set before stays restorable. All places "
      "must be reachable.",
      "Example: calpe remote update photos s3://one/p s3://b@two/p rclone:three:p");
  verb->add_option("SOURCE", arguments->source, "File or directory that was protected")
      ->type_name("FILE")
      ->required();
  add_places(*verb, arguments->remote);
  add_exclude_option(*verb, arguments->options.write);
  add_read_back_flag(*verb, arguments->options.write.reads_back);
  verb->add_flag("--verify", arguments->options.verifies,
                 "Read all objects first; upload segments with too many wrong ones again");
  add_take_over_option(*verb, arguments->remote);
  verb->add_flag("--dry-run", arguments->options.dry_run, "List the changes and write nothing");
  verb->add_option("--keep", arguments->options.keep,
                   "Generations to keep; older ones are forgotten")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  verb->add_option("--allow-removing", arguments->options.removed_percent_max,
                   "Largest share of entries or bytes that may be removed (default: 50)")
      ->type_name("PERCENT")
      ->check(CLI::Range(0U, 100U));
  verb->callback([arguments, &exit_code] {
    exit_code = run_remote_verb(arguments->remote, [&] { return update(*arguments); });
  });
}

}  // namespace calpe::tools
