// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress_bar.hpp"
#include "calpe/files/code_text.hpp"
#include "calpe/files/file_verb.hpp"
#include "calpe/files/files_margin.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/generations.hpp"
#include "calpe/files/set_choice.hpp"
#include "calpe/verbs.hpp"
#include "store/find/older_generations.hpp"
#include "store/read/set_reader.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

struct SetInfo {
  const store::FoundSet* set = nullptr;
  bool is_newest = true;  // of its generations
  std::string proof;
  std::string promise;  // the proof in a few words
  Result<store::Manifest> manifest = Error{ErrorCode::io, "not read"};
  std::vector<std::uint64_t> missing;
  Margin margin;  // by headers
  std::vector<store::OlderGeneration> older;

  int exit_code() const {
    if (missing.empty()) return exit_ok;
    const bool is_enough = set->header.kind == store::SetKind::originals ||
                           set->present() >= set->header.spec.data_shards;
    return is_enough ? exit_not_ok : exit_lost;
  }
};

// The names in --json do not change; people read `directory`.
const char* type_name(store::EntryType type) {
  switch (type) {
    case store::EntryType::file:
      return "file";
    case store::EntryType::folder:
      return "folder";
    case store::EntryType::link:
      return "link";
    case store::EntryType::stream:
      return "stream";
  }
  return "?";
}

const char* type_text(store::EntryType type) {
  return type == store::EntryType::folder ? "directory" : type_name(type);
}

Result<store::Manifest> manifest_of(store::FileSystem& files, const store::FoundSet& set) {
  CALPE_TRY(store::SetReader reader, store::SetReader::open(files, set));
  return reader.manifest();
}

SetInfo look_at(const FilesArguments& arguments, store::FileSystem& files,
                const store::FoundSet& set) {
  SetInfo info;
  info.set = &set;
  const auto proof = prove(set.header.spec);
  info.proof = proof ? proof->text : proof.error().message;
  info.promise = proof && proof->proven()
                     ? fmt::format("any {} can be rebuilt; calpe codes check shows the proof",
                                   count_text(proof->losses, "lost shard"))
                     : info.proof;
  for (std::size_t index = 0; index < set.shards.size(); ++index) {
    const bool is_file = index >= set.shards.size() - set.expected();
    if (is_file && set.shards[index].empty()) info.missing.push_back(index);
  }
  info.manifest = manifest_of(files, set);
  if (auto margin = store::margin_by_headers(files, set, named_folders(arguments)); margin) {
    info.margin = *std::move(margin);
  }
  return info;
}

// "3 files, 1 directory"
std::string summary_of(const store::Manifest& manifest) {
  std::array<std::uint64_t, 4> counts = {};
  for (const store::Entry& entry : manifest.entries)
    ++counts.at(static_cast<std::size_t>(entry.type));
  std::string out;
  for (std::size_t type = 0; type < counts.size(); ++type) {
    if (counts[type] == 0) continue;
    out += out.empty() ? "" : ", ";
    out += count_text(counts[type], type_text(static_cast<store::EntryType>(type)));
  }
  return out.empty() ? "nothing" : out;
}

void print_files(const store::Manifest& manifest) {
  for (const store::Entry& entry : manifest.entries) {
    fmt::print("  {:<9} {:04o} {:>12} {}  {}{}{}\n", type_text(entry.type), entry.mode,
               entry.file_bytes, utc_text(entry.seconds),
               entry.path.empty() ? "." : printable(entry.path),
               entry.type == store::EntryType::link ? " -> " : "", printable(entry.target));
  }
}

void print_info(const SetInfo& info, bool with_files) {
  const store::ShardHeader& header = info.set->header;
  fmt::print("{}\n", printable(header.name));
  fmt::print("  set      {}, generation {}{}\n", uuid_text(header.uuid), header.generation,
             info.is_newest ? "" : ", not the newest");
  fmt::print("  code     {}+{} {}\n", header.spec.data_shards, header.spec.parity_shards,
             profile_name(header.spec));
  fmt::print("  proof    {}\n", info.promise);
  if (header.kind == store::SetKind::originals)
    fmt::print("  kind     parity files; the data is in the originals\n");
  if (header.root_kind != store::RootKind::none) {
    fmt::print("  root     {}{}\n", store::to_text(header.set_root),
               header.root_kind == store::RootKind::hmac ? ", with HMAC" : "");
  }
  fmt::print("  {:<8} {} of {} present",
             header.kind == store::SetKind::originals ? "parity" : "shards", info.set->present(),
             info.set->expected());
  fmt::print("{}\n", info.missing.empty()
                         ? ""
                         : "; missing: " + list_text(info.missing, info.missing.size()));
  for (const store::OlderGeneration& older : info.older)
    fmt::print("  older    {}\n", generation_text(older));
  if (info.margin) fmt::print("  losses   {}\n", margin_text(header, *info.margin));
  fmt::print("  content  {} in {} of {} of {} bytes: ", bytes_text(header.content_bytes),
             count_text(header.stripe_count, "stripe"),
             count_text(header.spec.data_shards, "block"), header.block_bytes);
  if (!info.manifest) {
    fmt::print("cannot be read: {}\n", printable(info.manifest.error().message));
    return;
  }
  fmt::print("{}\n", summary_of(*info.manifest));
  if (with_files) print_files(*info.manifest);
}

Json entry_json(const store::Entry& entry) {
  Json json = {{"type", type_name(entry.type)},
               {"path", entry.path},
               {"mode", entry.mode},
               {"user", entry.user},
               {"group", entry.group},
               {"seconds", entry.seconds},
               {"nanoseconds", entry.nanoseconds},
               {"bytes", entry.file_bytes}};
  if (entry.type == store::EntryType::link) json["target"] = entry.target;
  return json;
}

Json info_json(const SetInfo& info, bool with_files) {
  Json json = {{"set", to_json(info.set->header)},
               {"newest", info.is_newest},
               {"proof", info.proof},
               {"shards_present", info.set->present()},
               {"missing", info.missing}};
  Json shards = Json::array();
  for (std::size_t index = 0; index < info.set->shards.size(); ++index) {
    for (const store::FoundShard& shard : info.set->shards[index])
      shards.push_back({{"index", index}, {"path", shard.path}, {"file_bytes", shard.file_bytes}});
  }
  json["shards"] = shards;
  if (info.is_newest) json["older_generations"] = to_json(info.older);
  add_margin(json, info.margin);
  if (!info.manifest) {
    json["problem"] = info.manifest.error().message;
    return json;
  }
  json["entries"] = info.manifest->entries.size();
  json["summary"] = summary_of(*info.manifest);
  if (!with_files) return json;
  Json files = Json::array();
  for (const store::Entry& entry : info.manifest->entries)
    files.push_back(entry_json(entry));
  json["files"] = files;
  return json;
}

// Reports generations of one set with different kinds of root, which no calpe command creates.
std::vector<std::string> warnings_on(const store::Findings& findings) {
  std::vector<std::string> warnings;
  for (std::size_t i = 1; i < findings.sets.size(); ++i) {
    const store::ShardHeader& newer = findings.sets[i - 1].header;
    const store::ShardHeader& older = findings.sets[i].header;
    if (newer.uuid != older.uuid || newer.root_kind == older.root_kind) continue;
    warnings.push_back(fmt::format(
        "WARNING: generations {} and {} of set {} differ in the kind of root, so one is a forgery; "
        "select the right one with --key-file or --expect-root of the other commands",
        newer.generation, older.generation, uuid_text(newer.uuid)));
  }
  return warnings;
}

Result<int> say_info(const FilesArguments& arguments, bool with_files) {
  CALPE_TRY(const HeldFindings held, find_shards(arguments));
  const store::Findings& findings = held.findings;
  int exit_code = exit_ok;
  Json list = Json::array();
  const store::FoundSet* before = nullptr;
  for (std::size_t i = 0; i < findings.sets.size(); ++i) {
    const store::FoundSet& set = findings.sets[i];
    SetInfo info = look_at(arguments, *held.files[i], set);
    // Generations of a set are adjacent, newest first; older ones are leftovers.
    info.is_newest = before == nullptr || before->header.uuid != set.header.uuid;
    if (info.is_newest) {
      exit_code = std::max(exit_code, info.exit_code());
      CALPE_TRY(
          info.older,
          store::check_older(*held.files[i], store::kept_generations(findings, set.header), false));
    }
    before = &set;
    if (arguments.json) {
      list.push_back(info_json(info, with_files));
    } else {
      print_info(info, with_files);
    }
    const std::string note = info.margin && info.is_newest ? spread_note(*info.margin) : "";
    if (!note.empty()) print_note(arguments, note);
  }
  const std::vector<std::string> warnings = warnings_on(findings);
  for (const std::string& warning : warnings)
    print_note(arguments, warning);
  if (!warnings.empty()) exit_code = std::max<int>(exit_code, exit_not_ok);
  if (arguments.json) {
    print_json({{"sets", list},
                {"warnings", warnings},
                {"unknown", findings.unknown},
                {"unreadable", findings.unreadable}});
  } else {
    for (const std::string& why : findings.unreadable)
      print_note(arguments, why);
    for (const std::string& path : findings.unknown)
      fmt::print("{}: no good header\n", printable(path));
  }
  return exit_code;
}

}  // namespace

void add_info_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<FilesArguments>();
  auto with_files = std::make_shared<bool>(false);
  CLI::App* const command =
      add_files_verb(app, *arguments, "info",
                     "List the sets in directories, with their code, shards and content\n\n"
                     "Reads headers and file lists only; calpe verify checks the blocks.");
  command->footer(std::string(exit_codes_help) +
                  "\n\nExample: calpe info /mnt/a /mnt/b --files\n\nSee calpe-info(1).");
  add_set_options(*command, *arguments);
  command->add_flag("--files", *with_files, "Also list the files");
  command->callback([arguments, with_files, &exit_code] {
    exit_code = run_files_verb(
        *arguments, [&](const FilesArguments& given) { return say_info(given, *with_files); });
  });
}

}  // namespace calpe::tools
