// SPDX-License-Identifier: Apache-2.0
// calpe remote restore and info.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "base/hex_digits.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/cli/progress_bar.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/generations.hpp"
#include "calpe/remote/remote_verbs.hpp"
#include "remote/set/content_reader.hpp"
#include "remote/set/manifest_reader.hpp"
#include "store/tree/selection.hpp"
#include "store/tree/tree.hpp"

namespace calpe::tools {

namespace {

namespace fs = std::filesystem;

struct RestoreArguments {
  RemoteArguments remote;
  std::string output;
  std::vector<std::string> only;
  bool overwrite = false;
  bool resume = false;
  bool owners = false;
};

struct InfoArguments {
  RemoteArguments remote;
  bool files = false;
};

bool has_data(const store::Entry& entry) {
  return entry.type == store::EntryType::file;
}

Result<store::Entry> only_file(const store::Manifest& manifest) {
  const auto& entries = manifest.entries;
  const auto count = std::count_if(entries.begin(), entries.end(), has_data);
  if (count == 1) return *std::find_if(entries.begin(), entries.end(), has_data);
  return invalid("standard output takes one file, but ", count,
                 " are selected; name one with --only (calpe remote info --files lists them)");
}

struct Lost {
  std::string path;
  std::string why;
};

Result<std::string> restore_to_disk(const RestoreArguments& arguments,
                                    const store::Manifest& manifest, const store::ReadContent& read,
                                    std::vector<Lost>& lost) {
  Progress bar("restoring");
  store::RestoreOptions options;
  options.overwrite = arguments.overwrite;
  options.resume = arguments.resume;
  options.owners = arguments.owners;
  options.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
  options.on_lost = [&](const store::Entry& entry, const Error& error) {
    lost.push_back({entry.path, error.message});
  };
  const auto& entries = manifest.entries;
  if (entries.size() != 1 || !has_data(entries.front())) {
    CALPE_CHECK(store::restore_tree(manifest, read, arguments.output, options));
    return arguments.output;
  }
  fs::path path = arguments.output;
  if (std::error_code error; fs::is_directory(path, error))
    path /= fs::path(entries.front().path).filename();
  CALPE_CHECK(store::restore_file(entries.front(), read, path.string(), options));
  return path.string();
}

Result<int> restore(const RestoreArguments& arguments) {
  CALPE_TRY(remote::Places places, reach_places(arguments.remote));
  CALPE_TRY(const remote::RemoteSet set, choose_set(places, arguments.remote));
  CALPE_TRY(const remote::Generation generation, choose_generation(places, set, arguments.remote));
  CALPE_TRY(const auto catalogue, remote::Catalogue::load(places, set.uuid, false));
  CALPE_TRY(const auto coder, remote::SegmentCoder::make(generation.header));
  remote::SegmentReader reader(places, catalogue, coder);
  CALPE_TRY(store::Manifest manifest, read_manifest(reader, generation));
  if (!arguments.only.empty()) {
    CALPE_TRY(manifest, store::select_entries(manifest, arguments.only));
  }
  remote::ContentReader content(reader, generation, store::data_ranges(manifest.entries));
  const store::ReadContent read = [&](std::span<std::byte> bytes, std::uint64_t offset) {
    return content.read(bytes, offset);
  };
  std::vector<Lost> lost;
  std::string path = "standard output";
  if (arguments.output == "-") {
    CALPE_TRY(const store::Entry entry, only_file(manifest));
    CALPE_CHECK(store::restore_stream(entry, read, STDOUT_FILENO));
  } else {
    CALPE_TRY(path, restore_to_disk(arguments, manifest, read, lost));
  }
  for (const std::string& problem : content.problems())
    print_remote_note(arguments.remote, problem);
  if (!content.problems().empty())
    print_remote_note(arguments.remote, "calpe remote repair rebuilds what is missing or wrong");
  for (const Lost& file : lost)
    fmt::print(stderr, "calpe remote restore: {} is lost: {}\n", printable(file.path),
               printable(file.why));
  if (arguments.remote.json) {
    auto files = nlohmann::ordered_json::array();
    for (const Lost& file : lost)
      files.push_back({{"path", printable(file.path)}, {"why", file.why}});
    print_json({{"set", to_json(generation.header)},
                {"path", path},
                {"entries", manifest.entries.size()},
                {"bytes_read", reader.bytes_read()},
                {"problems", content.problems()},
                {"lost", files}});
  } else if (arguments.output != "-") {
    fmt::print("{}: restored to {}{}.\n", remote_title(generation), printable(path),
               lost.empty() ? "" : text(" except ", count_text(lost.size(), "file")));
  }
  return lost.empty() ? exit_ok : exit_lost;
}

nlohmann::ordered_json generations_json(const std::vector<remote::Generation>& all,
                                        const remote::RemoteSet& set) {
  auto json = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    json.push_back({{"generation", all[i].header.generation},
                    {"time", generation_time(all[i].header.generation)},
                    {"data_bytes", all[i].data_bytes()},
                    {"segments", all[i].data.size() + all[i].manifest.size()},
                    {"copies", set.generations[i].copies.size()}});
  }
  return json;
}

nlohmann::ordered_json changing_json(remote::Places& places, const remote::RemoteSet& set) {
  auto json = nlohmann::ordered_json::array();
  for (const remote::MarkCopies& mark : set.marks)
    json.push_back(
        {{"command", describe_mark(places, set.uuid, mark)}, {"mark", hex_number(mark.number)}});
  return json;
}

Result<int> print_files(remote::Places& places, const InfoArguments& arguments) {
  CALPE_TRY(const remote::RemoteSet set, choose_set(places, arguments.remote));
  CALPE_TRY(const remote::Generation generation, choose_generation(places, set, arguments.remote));
  CALPE_TRY(const auto catalogue, remote::Catalogue::load(places, set.uuid, false));
  CALPE_TRY(const auto coder, remote::SegmentCoder::make(generation.header));
  remote::SegmentReader reader(places, catalogue, coder);
  CALPE_TRY(const store::Manifest manifest, read_manifest(reader, generation));
  auto json = nlohmann::ordered_json::array();
  for (const store::Entry& entry : manifest.entries) {
    if (entry.path.empty()) continue;
    json.push_back({{"path", printable(entry.path)}, {"bytes", entry.file_bytes}});
    if (!arguments.remote.json)
      fmt::print("{:>14}  {}{}\n", entry.file_bytes, printable(entry.path),
                 entry.type == store::EntryType::folder ? "/" : "");
  }
  if (arguments.remote.json) print_json({{"set", to_json(generation.header)}, {"files", json}});
  return exit_ok;
}

Result<int> info(const InfoArguments& arguments) {
  CALPE_TRY(remote::Places places, reach_places(arguments.remote));
  if (arguments.files) return print_files(places, arguments);
  auto json = nlohmann::ordered_json::array();
  for (std::size_t index = 0; index < places.size(); ++index) {
    if (!places.is_up(index)) print_remote_note(arguments.remote, places[index].why_down);
  }
  for (const remote::RemoteSet& set : remote::sets_on(places)) {
    if (!uuid_text(set.uuid).starts_with(arguments.remote.uuid)) continue;
    if (set.generations.empty()) {
      json.push_back({{"uuid", uuid_text(set.uuid)}, {"begun", true}});
      if (!arguments.remote.json)
        fmt::print("set {}: begun, never completed; run protect again, or calpe remote forget\n",
                   uuid_text(set.uuid));
      continue;
    }
    CALPE_TRY(const auto generations, load_generations(places, set));
    CALPE_TRY(const auto losses, losses_by_listing(places, set, generations));
    nlohmann::ordered_json known = {{"set", to_json(generations.back().header)},
                                    {"segment_bytes", generations.back().segment_bytes},
                                    {"places", generations.back().labels},
                                    {"generations", generations_json(generations, set)},
                                    {"changing", changing_json(places, set)}};
    add_losses(known, losses);
    json.push_back(std::move(known));
    if (arguments.remote.json) continue;
    const remote::Generation& newest = generations.back();
    fmt::print("{}\n", remote_title(newest));
    fmt::print("  segments  {} of {}\n", newest.data.size() + newest.manifest.size(),
               bytes_text(newest.segment_bytes));
    for (std::size_t shard = 0; shard < newest.labels.size(); ++shard)
      fmt::print("  shard {:<3} {}\n", shard, printable(newest.labels[shard]));
    for (std::size_t i = generations.size(); i-- > 0;)
      fmt::print("  generation {}  {}  {}, on {}\n", generations[i].header.generation,
                 generation_time(generations[i].header.generation),
                 bytes_text(generations[i].data_bytes()),
                 count_text(set.generations[i].copies.size(), "place"));
    for (const remote::MarkCopies& mark : set.marks)
      fmt::print("  {}, mark {}\n", describe_mark(places, set.uuid, mark), hex_number(mark.number));
    if (!losses.may_fail) {
      fmt::print("  Data is lost unless more places are given.\n");
    } else {
      fmt::print("  {}\n", losses_text(losses));
    }
  }
  if (arguments.remote.json) print_json({{"sets", json}});
  if (json.empty()) return make_error(ErrorCode::io, "no set on these places");
  return exit_ok;
}

}  // namespace

void add_remote_restore(CLI::App& remote, int& exit_code) {
  auto arguments = std::make_shared<RestoreArguments>();
  CLI::App* const verb = add_remote_verb(
      remote, arguments->remote, "restore",
      "Restore files from the fastest places that are left\n\n"
      "Reads only the stripes that are needed, from k places. Checks every block and decodes "
      "around missing and wrong ones.",
      "Example: calpe remote restore s3://one/p rclone:three:p -o back --only '2024/*.jpg'");
  add_places(*verb, arguments->remote);
  verb->add_option("-o,--output", arguments->output,
                   "File or directory to restore to, or - for standard output")
      ->type_name("FILE")
      ->required();
  verb->add_option("--only", arguments->only,
                   "Restore only this file or directory; may contain * ? [...] and be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
  add_generation_option(*verb, arguments->remote);
  add_prefer_option(*verb, arguments->remote);
  verb->add_flag("--overwrite", arguments->overwrite, "Replace existing files");
  verb->add_flag("--resume", arguments->resume,
                 "Resume an interrupted restore; keep files of the same size and time");
  verb->add_flag("--owners", arguments->owners, "Also restore user and group IDs");
  verb->callback([arguments, &exit_code] {
    if (arguments->output == "-" && arguments->remote.json)
      throw CLI::ValidationError(
          "--json", "cannot be combined with -o -, which writes the data to standard output");
    exit_code = run_remote_verb(arguments->remote, [&] { return restore(*arguments); });
  });
}

void add_remote_info(CLI::App& remote, int& exit_code) {
  auto arguments = std::make_shared<InfoArguments>();
  CLI::App* const verb =
      add_remote_verb(remote, arguments->remote, "info",
                      "List the sets on places, their generations and their files",
                      "Example: calpe remote info s3://one/p s3://b@two/p rclone:three:p --files");
  add_places(*verb, arguments->remote);
  verb->add_flag("--files", arguments->files, "List the files of one set");
  add_generation_option(*verb, arguments->remote);
  verb->callback([arguments, &exit_code] {
    exit_code = run_remote_verb(arguments->remote, [&] { return info(*arguments); });
  });
}

}  // namespace calpe::tools
