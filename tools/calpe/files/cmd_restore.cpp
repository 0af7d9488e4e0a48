// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "base/byte_count.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/files/file_verb.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/lost_ranges.hpp"
#include "calpe/files/set_choice.hpp"
#include "calpe/verbs.hpp"
#include "store/format/content_ranges.hpp"
#include "store/read/set_reader.hpp"
#include "store/tree/selection.hpp"
#include "store/tree/tree.hpp"

namespace calpe::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view filled_with_zeros = "; filled with zeros";

struct RestoreArguments {
  FilesArguments files;
  std::string output;
  std::vector<std::string> only;
  std::string range;
  bool salvage = false;
  bool overwrite = false;
  bool resume = false;
  bool owners = false;

  bool is_stream() const { return output == "-"; }
};

bool has_data(const store::Entry& entry) {
  return entry.type == store::EntryType::file || entry.type == store::EntryType::stream;
}

// Returns nullptr for a directory.
const store::Entry* single_file(const store::Manifest& manifest) {
  if (manifest.entries.size() != 1 || !has_data(manifest.entries.front())) return nullptr;
  return &manifest.entries.front();
}

// For what takes exactly one file: standard output, and a range.
Result<store::Entry> only_file(const store::Manifest& manifest, std::string_view taker) {
  const auto& entries = manifest.entries;
  const auto count = std::count_if(entries.begin(), entries.end(), has_data);
  if (count != 1) {
    return invalid(taker, " takes one file, but ", count,
                   " are selected; name one with --only (calpe info --files lists them)");
  }
  return *std::find_if(entries.begin(), entries.end(), has_data);
}

// "A:B", bytes A to B - 1; "A:" to the end, and ":B" from the start.
Result<store::Entry> slice_of(const store::Entry& entry, const std::string& range) {
  const std::size_t colon = range.find(':');
  if (colon == std::string::npos)
    return invalid("the range is \"", range, "\"; expected A:B, for example 1M:2M");
  const std::string first = range.substr(0, colon);
  const std::string last = range.substr(colon + 1);
  std::uint64_t begin = 0;
  std::uint64_t end = entry.file_bytes;
  if (!first.empty()) {
    CALPE_TRY(begin, parse_offset(first));
  }
  if (!last.empty()) {
    CALPE_TRY(end, parse_offset(last));
  }
  return store::slice_entry(entry, begin, end);
}

// What --only and --range leave of the set.
Result<store::Manifest> wanted_part(const RestoreArguments& arguments, store::Manifest manifest) {
  if (!arguments.only.empty()) {
    CALPE_TRY(manifest, store::select_entries(manifest, arguments.only));
  }
  if (arguments.range.empty()) return manifest;
  CALPE_TRY(const store::Entry entry, only_file(manifest, "--range"));
  CALPE_TRY(store::Entry slice, slice_of(entry, arguments.range));
  return store::Manifest{.entries = {std::move(slice)}};
}

Status restore_to_stdout(const RestoreArguments& arguments, const store::Manifest& manifest,
                         const store::ReadContent& read, Progress& bar) {
  if (arguments.only.empty() && single_file(manifest) == nullptr) {
    return invalid("the set has ", manifest.entries.size(),
                   " entries, but standard output takes one file; name a directory with -o, or "
                   "select a file with --only");
  }
  CALPE_TRY(const store::Entry entry, only_file(manifest, "standard output"));
  const std::uint64_t all = store::total_bytes(store::data_ranges({&entry, 1}));
  std::uint64_t done = 0;
  const store::ReadContent counted = [&](std::span<std::byte> bytes, std::uint64_t offset) {
    Status status = read(bytes, offset);
    done += bytes.size();
    bar.update(done, all);
    return status;
  };
  return store::restore_stream(entry, counted, STDOUT_FILENO);
}

// In an existing directory the file gets its own name.
std::string file_path(const RestoreArguments& arguments, const store::Entry& entry,
                      const store::ShardHeader& header) {
  std::error_code error;
  fs::path path = arguments.output;
  if (fs::is_directory(path, error)) {
    path /= entry.type == store::EntryType::stream ? fs::path(header.name)
                                                   : fs::path(entry.path).filename();
  }
  return path.string();
}

struct Restored {
  std::string path;
  std::uint64_t entries = 0;
  std::uint64_t there = 0;  // files and links that an earlier run restored
  std::uint64_t blocks_rebuilt = 0;
  struct Lost {
    std::string path;
    std::string why;
  };
  std::vector<Lost> lost = {};        // files that were not restored
  std::vector<LostFile> filled = {};  // with zeros, by --salvage; offsets in the files written
};

Result<Restored> restore_to_disk(const RestoreArguments& arguments, const store::Manifest& manifest,
                                 const store::ReadContent& read, const LostContent& lost,
                                 const store::ShardHeader& header) {
  Progress bar("restoring " + printable(header.name));
  store::RestoreOptions options;
  options.overwrite = arguments.overwrite;
  options.resume = arguments.resume;
  options.compares_kept = true;  // size and time do not tell which generation a file is of
  options.owners = arguments.owners;
  options.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
  Restored restored = {.path = arguments.output, .entries = manifest.entries.size()};
  options.on_there = [&](const store::Entry&) { ++restored.there; };
  options.is_filled = [&](const store::Entry& entry) { return lost.is_in(entry); };
  options.on_lost = [&](const store::Entry& entry, const Error& error) {
    restored.lost.push_back({entry.path, error.message});
  };
  if (const store::Entry* const entry = single_file(manifest); entry != nullptr) {
    restored.path = file_path(arguments, *entry, header);
    CALPE_CHECK(store::restore_file(*entry, read, restored.path, options));
  } else {
    CALPE_CHECK(store::restore_tree(manifest, read, arguments.output, options));
  }
  return restored;
}

void note_missing(const FilesArguments& arguments, const store::FoundSet& set) {
  const std::size_t present = set.present();
  if (present == set.expected()) return;
  const bool is_enough =
      set.header.kind == store::SetKind::originals || present >= set.header.spec.data_shards;
  print_note(arguments,
             text(set.expected() - present, " of ", set.expected(), " ", shard_word(set.header),
                  "s are missing", is_enough ? "; calpe repair rebuilds them" : ""));
}

// If no shard is missing, the damage would otherwise go unnoticed.
void note_rebuilt(const FilesArguments& arguments, const store::FoundSet& set,
                  std::uint64_t blocks) {
  if (blocks == 0 || set.present() != set.expected()) return;
  print_note(arguments, text(count_text(blocks, "damaged block"),
                             " had to be rebuilt; calpe verify lists the damage, and calpe repair "
                             "repairs it"));
}

// Without the owner, these bits would give the caller's rights to others.
void note_cleared_bits(const RestoreArguments& arguments, const store::Manifest& manifest) {
  constexpr unsigned set_id_bits = 06000;
  const auto count =
      std::count_if(manifest.entries.begin(), manifest.entries.end(),
                    [](const store::Entry& entry) { return (entry.mode & set_id_bits) != 0; });
  if (count == 0 || arguments.owners) return;
  print_note(arguments.files, text("the set-user-ID and set-group-ID bits of ",
                                   count_text(static_cast<std::uint64_t>(count), "entry"),
                                   " were not restored; --owners restores them"));
}

std::vector<std::string> unproven_paths(const store::FoundSet& set) {
  std::vector<std::string> paths;
  for (const auto& copies : set.shards) {
    for (const store::FoundShard& copy : copies) {
      if (copy.is_distrusted) paths.push_back(copy.path);
    }
  }
  return paths;
}

// With --key-file, --expect-root or --root-check, only shards that match the root are used.
Result<HeldSet> find_usable_set(const FilesArguments& arguments) {
  CALPE_TRY(HeldSet held, find_one_set(arguments));
  store::FoundSet& set = held.set;
  if (!arguments.roots.is_any()) {
    if (set.header.root_kind == store::RootKind::hmac) {
      print_note(arguments, "the HMAC of the set was not checked; check it with --key-file");
    }
    return held;
  }
  Progress bar("checking " + printable(set.header.name));
  CALPE_TRY(set, store::distrust_unproven(
                     *held.files, std::move(set), arguments.jobs,
                     [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); }));
  bar.end();
  for (const std::string& path : unproven_paths(set))
    print_note(arguments, text(path, " does not match the root; not used"));
  return held;
}

std::string exceptions_text(const Restored& restored) {
  std::string out;
  if (!restored.lost.empty()) out += text(" except ", count_text(restored.lost.size(), "file"));
  if (!restored.filled.empty()) {
    out += text(out.empty() ? "" : ",", " with zeros in place of lost bytes in ",
                count_text(restored.filled.size(), "file"));
  }
  if (out.empty()) return out;
  out += "; find more shards, add their directories, and try again";
  return restored.lost.empty() ? out : out + ", or restore the rest of such files with --salvage";
}

void report(const FilesArguments& arguments, const store::FoundSet& set, const Restored& restored) {
  print_lost_files("restore", restored.filled, filled_with_zeros);
  for (const Restored::Lost& file : restored.lost)
    fmt::print(stderr, "calpe restore: {} is lost: {}\n", printable(file.path),
               printable(file.why));
  if (arguments.json) {
    auto lost = nlohmann::ordered_json::array();
    for (const Restored::Lost& file : restored.lost)
      lost.push_back({{"path", printable(file.path)}, {"why", file.why}});
    print_json({{"set", to_json(set.header)},
                {"path", restored.path},
                {"entries", restored.entries},
                {"already_there", restored.there},
                {"blocks_rebuilt", restored.blocks_rebuilt},
                {"lost", lost},
                {"filled_with_zeros", to_json(restored.filled)},
                {"shards_present", set.present()},
                {"root_checked", arguments.roots.is_any()},
                {"hmac", hmac_state_name(set.header, arguments.roots)},
                {"not_used", unproven_paths(set)}});
    return;
  }
  fmt::print("{}: restored to {}{}{}.\n", set_title(set.header), printable(restored.path),
             restored.there == 0 ? "" : text(" (", restored.there, " already complete)"),
             exceptions_text(restored));
}

// Names --salvage only if it would restore something: it needs the list of files.
Status check_usable(const RestoreArguments& arguments, store::SetReader& reader,
                    const Result<store::Manifest>& list) {
  const Status enough = reader.check_enough();
  if (enough) return list ? Status(Done{}) : Status(list.error());
  const Error& error = enough.error();
  if (!list) {
    const bool is_lost =
        list.error().code == ErrorCode::unrecoverable || list.error().code == ErrorCode::corrupt;
    if (!is_lost) return list.error();
    return make_error(error.code, error.message,
                      "; the list of files is in a lost part, so no file can be restored",
                      arguments.salvage ? ", even with --salvage" : "");
  }
  if (arguments.salvage) return Done{};
  return make_error(error.code, error.message, "; --salvage restores what they contain");
}

Result<int> restore(const RestoreArguments& arguments) {
  CALPE_TRY(const HeldSet held, find_usable_set(arguments.files));
  const store::FoundSet& set = held.set;
  CALPE_TRY(store::SetReader reader,
            store::SetReader::open(*held.files, set, arguments.files.jobs));
  Result<store::Manifest> everything = reader.manifest();
  CALPE_CHECK(check_usable(arguments, reader, everything));
  CALPE_TRY(const store::Manifest manifest, wanted_part(arguments, *std::move(everything)));
  LostContent lost;
  const store::ReadContent read = [&](std::span<std::byte> bytes, std::uint64_t offset) -> Status {
    if (!arguments.salvage) return reader.read(bytes, offset);
    std::vector<store::ContentRange> more;
    CALPE_CHECK(reader.salvage(bytes, offset, more));
    for (const store::ContentRange& range : more)
      lost.add(range);
    return Done{};
  };
  if (arguments.is_stream()) {
    Progress bar("restoring " + printable(set.header.name));
    CALPE_CHECK(restore_to_stdout(arguments, manifest, read, bar));
    bar.end();
    note_missing(arguments.files, set);
    note_rebuilt(arguments.files, set, reader.blocks_rebuilt());
    const auto filled = lost_files(manifest, lost.ranges());
    print_lost_files("restore", filled, filled_with_zeros);
    return filled.empty() ? exit_ok : exit_not_ok;
  }
  CALPE_TRY(Restored restored, restore_to_disk(arguments, manifest, read, lost, set.header));
  restored.filled = lost_files(manifest, lost.ranges());
  restored.blocks_rebuilt = reader.blocks_rebuilt();
  note_cleared_bits(arguments, manifest);
  note_missing(arguments.files, set);
  note_rebuilt(arguments.files, set, restored.blocks_rebuilt);
  report(arguments.files, set, restored);
  if (!restored.lost.empty()) return exit_lost;
  return restored.filled.empty() ? exit_ok : exit_not_ok;
}

}  // namespace

void add_restore_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<RestoreArguments>();
  CLI::App* const command =
      add_files_verb(app, arguments->files, "restore",
                     "Restore the protected files from the good shards\n\n"
                     "Checks every block and rebuilds bad ones. Does not change the shards.");
  command->footer(std::string(exit_codes_help) +
                  "\n\nExample: calpe restore /mnt/a /mnt/b -o photos --only '2024/*.jpg'"
                  "\n\nSee calpe-restore(1).");
  add_set_options(*command, arguments->files);
  command
      ->add_option("-o,--output", arguments->output,
                   "File or directory to restore to, or - for standard output")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--only", arguments->only,
                   "Restore only this file or directory; may contain * ? [...] and be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
  command->add_option("--range", arguments->range, "Restore only bytes A to B-1 of one file")
      ->type_name("A:B");
  command->add_flag("--salvage", arguments->salvage,
                    "Restore damaged files too, with zeros in place of lost bytes");
  command->add_flag("--overwrite", arguments->overwrite, "Replace existing files");
  command->add_flag("--resume", arguments->resume,
                    "Resume an interrupted restore; keep files with the right bytes");
  command->add_flag("--owners", arguments->owners, "Also restore user and group IDs");
  command->add_flag("--older", arguments->files.accepts_older,
                    "Restore an older generation if too few shards of the newest are left");
  add_generation_option(*command, arguments->files,
                        "Restore this older generation, or \"previous\" (default: the newest)");
  add_key_option(*command, arguments->files.roots, "Use only data that this key proves");
  add_expect_option(*command, arguments->files.roots);
  command->add_flag("--root-check", arguments->files.roots.is_asked,
                    "Use only shards that match the root of the set");
  add_jobs_option(*command, arguments->files);
  command->callback([arguments, &exit_code] {
    if (arguments->is_stream() && arguments->files.json)
      throw CLI::ValidationError(
          "--json", "cannot be combined with -o -, which writes the data to standard output");
    if (arguments->resume && (arguments->salvage || !arguments->range.empty()))
      throw CLI::ValidationError(
          "--resume",
          "cannot be combined with --salvage or --range: a file of the right size "
          "and time need not have the right bytes");
    exit_code = run_files_verb(arguments->files,
                               [&](const FilesArguments&) { return restore(*arguments); });
  });
}

}  // namespace calpe::tools
