// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <set>
#include <unistd.h>

#include "base/byte_count.hpp"
#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/cli/progress_bar.hpp"
#include "calpe/files/code_text.hpp"
#include "calpe/files/file_verb.hpp"
#include "calpe/files/files_margin.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/original_paths.hpp"
#include "calpe/files/redundancy.hpp"
#include "calpe/files/remote_paths.hpp"
#include "calpe/files/replaced_sets.hpp"
#include "calpe/files/target_space.hpp"
#include "calpe/verbs.hpp"
#include "store/format/geometry.hpp"
#include "store/io/held_files.hpp"
#include "store/read/stripe_coder.hpp"
#include "store/tree/in_place_source.hpp"
#include "store/tree/tree.hpp"
#include "store/write/protect.hpp"

namespace calpe::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t name_bytes_max = 200;  // file names have at most 255, with our suffix

struct ProtectArguments {
  FilesArguments files;
  std::vector<std::string> sources;
  std::vector<std::string> exclude;
  unsigned data = 10;
  unsigned parity = 4;
  std::string redundancy;
  std::vector<std::string> targets;
  std::string name;
  std::string profile = "default";
  unsigned groups = 0;
  std::string block_bytes;
  std::string checkpoint = "1G";
  bool overwrite = false;
  bool no_resume = false;
  bool with_root = false;
  bool keep_original = false;
  bool no_space_check = false;

  unsigned shards() const { return data + parity; }
  const std::string& source() const { return sources.front(); }  // the only one
  bool is_several() const { return sources.size() > 1; }
  bool is_stream() const { return sources.front() == "-"; }
};

Result<std::string> name_of(const ProtectArguments& arguments) {
  std::string name = arguments.name;
  if (name.empty() && arguments.is_several())
    return invalid("several sources have no common name; name the set with --name");
  if (name.empty() && arguments.is_stream()) name = "stdin";
  if (name.empty() && arguments.keep_original) {
    CALPE_TRY(const OriginalName original, original_name(arguments.source()));
    name = original.name;
  }
  if (name.empty()) {
    std::error_code error;
    const fs::path whole = fs::canonical(arguments.source(), error);
    if (error)
      return make_error(ErrorCode::io, "cannot read ", arguments.source(), ": ", error.message());
    // Prefer the name in the path, so that a link keeps its own name.
    fs::path last = fs::path(arguments.source()).filename();
    if (last.empty() || last == "." || last == "..") last = whole.filename();
    name = last.empty() ? "root" : last.string();
  }
  if (name.find('/') != std::string::npos || name == "." || name == "..")
    return invalid("the name is \"", name,
                   "\"; expected one without directories; change it with --name");
  if (name.size() > name_bytes_max) {
    return invalid("the name has ", name.size(), " bytes; expected at most ", name_bytes_max,
                   "; shorten it with --name");
  }
  return name;
}

Result<std::uint32_t> block_bytes_of(const ProtectArguments& arguments) {
  if (arguments.block_bytes.empty()) return 0U;
  const auto bytes = parse_bytes(arguments.block_bytes);
  const bool is_good = bytes && *bytes >= store::block_bytes_min &&
                       *bytes <= store::block_bytes_max && *bytes % store::block_bytes_min == 0;
  if (is_good) return static_cast<std::uint32_t>(*bytes);
  return invalid("--block-bytes is \"", arguments.block_bytes,
                 "\"; expected a multiple of 64 such as 4096 or 64K, at most 16M");
}

Result<std::uint64_t> checkpoint_bytes_of(const ProtectArguments& arguments) {
  if (const auto bytes = parse_bytes(arguments.checkpoint); bytes) {
    return std::uint64_t{*bytes};
  }
  return invalid("--checkpoint is \"", arguments.checkpoint,
                 "\"; expected a size such as 256M, at most 2G");
}

Result<CodeSpec> spec_of(const ProtectArguments& arguments) {
  CALPE_TRY(CodeSpec spec, find_profile(arguments.profile));
  if (spec.layout != Layout::bytes) {
    return invalid("--profile ", arguments.profile,
                   " has the packets layout; expected one with bytes; calpe codes lists them");
  }
  spec.data_shards = arguments.data;
  spec.parity_shards = arguments.parity;
  if (arguments.groups != 0 && spec.family != CodeFamily::lrc)
    return invalid("--groups is for --profile lrc only, not for ", arguments.profile);
  if (spec.family == CodeFamily::lrc && arguments.groups == 0)
    return invalid("--profile lrc needs --groups, the number of local groups, such as 2");
  spec.local_groups = arguments.groups;
  return spec;
}

// Refuses targets inside the source: every run would also protect the shards of the last one.
Status check_targets(const ProtectArguments& arguments) {
  std::error_code error;
  std::set<fs::path> seen;
  for (const std::string& target : arguments.targets) {
    CALPE_CHECK(refuse_remote(target));
    const fs::path whole = fs::weakly_canonical(target, error);
    if (!seen.insert(whole).second)
      return invalid("-o ", target, " is given twice; give each target directory once");
    for (const std::string& given : arguments.sources) {
      const fs::path source = arguments.is_stream() ? fs::path() : fs::canonical(given, error);
      if (arguments.is_stream() || !fs::is_directory(source, error)) continue;
      const auto [end, in_target] =
          std::mismatch(source.begin(), source.end(), whole.begin(), whole.end());
      if (end == source.end()) {
        return invalid("-o ", target, " is inside ", given,
                       ", the directory to protect; choose another");
      }
    }
  }
  return Done{};
}

Status check_sources(const ProtectArguments& arguments) {
  const bool is_plain = !arguments.is_several() && arguments.exclude.empty();
  if (arguments.keep_original && !is_plain)
    return invalid("--keep-original takes one source and no --exclude");
  const auto& sources = arguments.sources;
  if (!is_plain && std::find(sources.begin(), sources.end(), "-") != sources.end())
    return invalid("standard input cannot be combined with other sources or --exclude");
  return Done{};
}

// Returns true if later commands find the original by themselves.
bool is_original_beside(const ProtectArguments& arguments, const std::string& name) {
  const Result<OriginalName> original = original_name(arguments.source());
  return original && original->name == name &&
         std::any_of(arguments.targets.begin(), arguments.targets.end(),
                     [&](const std::string& target) {
                       std::error_code error;
                       return fs::equivalent(target, original->folder, error);
                     });
}

// Returns an empty string if later commands find the original by themselves.
std::string original_note(const ProtectArguments& arguments, const std::string& name) {
  if (is_original_beside(arguments, name)) return {};
  return text("the original is not next to its parity files under the name ", name,
              "; verify, repair and restore need --original ", arguments.source());
}

// Asks the code, as verify does: a code that is not MDS survives many losses of more shards than it
// guarantees. Shards go to the targets in turn.
bool may_lose_any_target(const store::StripeCoder& coder, unsigned shards, unsigned targets) {
  for (unsigned lost = 0; lost < targets; ++lost) {
    std::vector<std::uint8_t> good(shards, 1);
    for (unsigned shard = lost; shard < shards; shard += targets)
      good[shard] = 0;
    if (!coder.can_rebuild(good)) return false;
  }
  return true;
}

// Returns an empty string if any one target may be lost.
std::string target_note(const ProtectArguments& arguments, const store::ShardHeader& header) {
  if (arguments.keep_original) return original_note(arguments, header.name);
  const CodeSpec& spec = header.spec;
  const auto targets = static_cast<unsigned>(arguments.targets.size());
  const unsigned shards = arguments.shards();
  const unsigned most = divide_up(shards, targets);
  const Result<store::StripeCoder> coder = store::StripeCoder::make(header);
  if (!coder || may_lose_any_target(*coder, shards, targets)) return {};
  unsigned enough = targets + 1;
  while (enough < shards && !may_lose_any_target(*coder, shards, enough))
    ++enough;
  const std::string advice = fmt::format("with {} directories, any one may be lost", enough);
  if (targets == 1) {
    return fmt::format(
        "the only target directory holds all {} shards; losing it loses the data; {}", shards,
        advice);
  }
  const bool is_even = shards % targets == 0;
  const std::string which = fmt::format("each of {} target directories holds {}{} of {} shards",
                                        targets, is_even ? "" : "up to ", most, shards);
  if (losses_of(spec) < spec.parity_shards)
    return fmt::format("{}; losing one may lose the data; {}", which, advice);
  return fmt::format("{}; losing one {} more than {} shards, and so the data; {}", which,
                     is_even ? "loses" : "may lose", spec.parity_shards, advice);
}

// Counts bytes as they are read: the library reports whole batches only, which takes long for a
// slow pipe.
class CountedSource : public store::ContentSource {
 public:
  CountedSource(store::ContentSource& source, Progress& bar) : source_(source), bar_(bar) {}

  std::optional<std::uint64_t> bytes_expected() const override { return source_.bytes_expected(); }
  Result<std::size_t> read(std::span<std::byte> bytes) override {
    auto count = source_.read(bytes);
    if (count) done_ += *count;
    bar_.update(done_, bytes_expected().value_or(0));
    return count;
  }
  std::vector<std::byte> identity() const override { return source_.identity(); }
  bool is_as_identified() const override { return source_.is_as_identified(); }
  Status skip(std::uint64_t bytes) override {
    done_ += bytes;
    bar_.resume(done_);
    return source_.skip(bytes);
  }
  std::uint64_t manifest_offset() const override { return source_.manifest_offset(); }
  std::uint64_t manifest_bytes() const override { return source_.manifest_bytes(); }

 private:
  store::ContentSource& source_;
  Progress& bar_;
  std::uint64_t done_ = 0;
};

struct Content {
  std::unique_ptr<store::ContentSource> source;
  std::unique_ptr<store::OriginalSource> originals;  // set instead of `source`
  const store::TreeSource* tree = nullptr;           // the source, if it is one
  std::vector<std::string> skipped;

  // The final list: some files may have turned out to be unreadable.
  std::span<const store::UnreadableFile> unreadable() const {
    return tree == nullptr ? std::span<const store::UnreadableFile>() : tree->tree().unreadable;
  }
  std::string what() const;  // "3 files"
};

std::string files_of(const store::Manifest& manifest) {
  const std::vector<store::Entry>& entries = manifest.entries;
  const auto files = std::count_if(entries.begin(), entries.end(), [](const store::Entry& entry) {
    return entry.type == store::EntryType::file;
  });
  return count_text(static_cast<std::uint64_t>(files), "file");
}

std::string Content::what() const {
  if (originals) return files_of(originals->manifest());
  return tree == nullptr ? "a stream" : files_of(tree->manifest());
}

Result<Content> open_content(const ProtectArguments& arguments) {
  Content content;
  if (arguments.is_stream()) {
    content.source = store::make_stream_source(STDIN_FILENO);
    return content;
  }
  if (arguments.keep_original) {
    CALPE_TRY(content.originals, store::OriginalSource::open(arguments.source()));
    content.skipped = content.originals->skipped();
    return content;
  }
  const store::ScanOptions options = {
      .exclude = arguments.exclude, .skips_unreadable = true, .looks_for_metadata = true};
  CALPE_TRY(std::unique_ptr<store::TreeSource> tree,
            arguments.is_several() ? store::TreeSource::open_all(arguments.sources, options)
                                   : store::TreeSource::open(arguments.source(), options));
  content.skipped = tree->skipped();
  content.tree = tree.get();
  content.source = std::move(tree);
  return content;
}

// Before anything is written. The size of a stream is not known.
Status check_free_space(const ProtectArguments& arguments, const Content& content,
                        const store::ProtectOptions& options) {
  const store::ContentSource* source = content.source.get();
  if (content.originals) source = content.originals.get();
  const std::optional<std::uint64_t> bytes = source->bytes_expected();
  if (arguments.no_space_check || !bytes) return Done{};
  store::ShardHeader header;
  header.spec = options.spec;
  header.kind = content.originals ? store::SetKind::originals : store::SetKind::shards;
  header.content_bytes = *bytes;
  header.block_bytes = options.block_bytes != 0
                           ? options.block_bytes
                           : store::choose_block_bytes(*bytes, options.spec.data_shards);
  header.stripe_count =
      divide_up(*bytes, std::uint64_t{header.block_bytes} * options.spec.data_shards);
  const std::uint64_t shard_bytes = store::shard_file_bytes(header);
  const unsigned files = content.originals ? arguments.parity : arguments.shards();
  std::vector<PlannedWrite> writes;
  for (unsigned file = 0; file < files; ++file)
    writes.push_back({arguments.targets[file % arguments.targets.size()], shard_bytes});
  return check_space(writes);
}

void print_made(const ProtectArguments& arguments, const store::ProtectedSet& made,
                const Content& content) {
  const store::ShardHeader& header = made.header;
  fmt::print("{}: {}, {} {} of {}.\n", set_title(header), content.what(),
             bytes_text(header.content_bytes),
             arguments.keep_original ? "and " + count_text(made.paths.size(), "parity file")
                                     : text("in ", made.paths.size(), " shards"),
             bytes_text(store::shard_file_bytes(header)));
  if (made.resumed_bytes > 0) {
    fmt::print("Resumed at {} after an interrupted run.\n", bytes_text(made.resumed_bytes));
  }
  if (header.root_kind != store::RootKind::none)
    fmt::print("Root {}\n", store::to_text(header.set_root));
  std::string places;
  for (const std::string& target : arguments.targets)
    places += " " + quoted(target);
  if (arguments.keep_original) {
    if (!is_original_beside(arguments, header.name))
      places += " --original " + quoted(arguments.source());
    // Lost files may be spread unevenly over the parts.
    fmt::print(
        "Up to {} of the {} parts of the data, or as many parity files, may be lost or damaged.\n"
        "To check them: calpe verify{}\n",
        header.spec.parity_shards, header.spec.data_shards, printable(places));
    return;
  }
  fmt::print("{} To check them: calpe verify{}\n", losses_text(header.spec), printable(places));
}

nlohmann::ordered_json made_json(const store::ProtectedSet& made, const Content& content,
                                 const std::vector<std::string>& notes) {
  auto unreadable = nlohmann::ordered_json::array();
  for (const store::UnreadableFile& file : content.unreadable())
    unreadable.push_back({{"path", file.path}, {"why", file.why}});
  return {{"set", to_json(made.header)},
          {"shard_bytes", store::shard_file_bytes(made.header)},
          {"shards", made.paths},
          {"resumed_bytes", made.resumed_bytes},
          {"skipped", content.skipped},
          {"unreadable", unreadable},
          {"excluded", content.tree == nullptr ? 0 : content.tree->tree().excluded},
          {"notes", notes}};
}

// "a, b and 3 more"
std::string names_text(const store::NamedFiles& files) {
  std::string out;
  for (const std::string& path : files.first)
    out += (out.empty() ? "" : ", ") + path;
  if (files.count > files.first.size())
    out += text(" and ", files.count - files.first.size(), " more");
  return out;
}

void add_tree_notes(const store::ScannedTree& tree, std::vector<std::string>& notes) {
  for (const std::string& pattern : tree.unused_exclude)
    notes.push_back(text("--exclude ", pattern, " matches nothing"));
  if (tree.hard_links.count != 0) {
    notes.push_back(text("hard links are stored as separate files: ", names_text(tree.hard_links)));
  }
  if (tree.attributes.count != 0) {
    notes.push_back(
        text("extended attributes and ACLs are not stored: ", names_text(tree.attributes)));
  }
}

void print_unreadable(const Content& content) {
  for (const store::UnreadableFile& file : content.unreadable()) {
    fmt::print(stderr, "calpe protect: {} is not protected: {}\n", printable(file.path),
               printable(file.why));
  }
}

Status check_overwrite(const ProtectArguments& arguments, const std::vector<std::string>& older) {
  if (older.empty() || arguments.overwrite) return Done{};
  return invalid(older.front(), " exists",
                 older.size() > 1 ? text(" (and ", older.size() - 1, " more)") : "",
                 "; replace it with --overwrite, or choose another name with --name");
}

std::vector<std::string> notes_on(const ProtectArguments& arguments, const Content& content,
                                  const store::ShardHeader& header,
                                  const std::vector<std::string>& left) {
  std::vector<std::string> notes;
  for (const std::string& path : content.skipped)
    notes.push_back(store::skipped_text(path));
  if (arguments.is_stream() && header.manifest_offset == 0)
    notes.emplace_back("standard input was empty, so the set contains no data");
  if (content.tree != nullptr) add_tree_notes(content.tree->tree(), notes);
  for (const std::string& path : left)
    notes.push_back(path + " belongs to an older set and was kept; remove it");
  if (std::string note = target_note(arguments, header); !note.empty())
    notes.push_back(std::move(note));
  return notes;
}

Result<store::ProtectedSet> write_set(store::FileSystem& files, const Content& content,
                                      store::ProtectOptions options, Progress& bar) {
  if (content.originals) {
    options.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
    return store::protect_originals(files, *content.originals, options);
  }
  CountedSource counted(*content.source, bar);
  return store::protect(files, counted, options);
}

// Defaults to the current directory; parity files go next to the original.
Status choose_targets(ProtectArguments& arguments) {
  if (arguments.keep_original && arguments.is_stream())
    return invalid("standard input has no original to keep; leave out --keep-original");
  if (!arguments.targets.empty()) return Done{};
  arguments.targets.emplace_back(".");
  if (!arguments.keep_original) return Done{};
  CALPE_TRY(const OriginalName original, original_name(arguments.source()));
  arguments.targets.front() = original.folder;
  return Done{};
}

// Fails if another command is changing the set to be replaced.
Status hold_older(store::HeldFiles& files, const std::vector<std::string>& older) {
  for (const std::string& path : older) {
    CALPE_TRY(const bool is_held, files.hold(path));
    if (!is_held) return store::locked_error(store::LockKind::exclusive);
  }
  return Done{};
}

Status apply_redundancy(ProtectArguments& arguments) {
  if (arguments.redundancy.empty()) return Done{};
  if (!arguments.keep_original)
    return invalid("--redundancy needs --keep-original; choose --data and --parity instead");
  arguments.data = redundancy_parts;
  CALPE_TRY(arguments.parity, parity_for_redundancy(arguments.redundancy));
  return Done{};
}

Result<int> protect(ProtectArguments arguments) {
  CALPE_CHECK(check_sources(arguments));
  CALPE_CHECK(apply_redundancy(arguments));
  CALPE_CHECK(choose_targets(arguments));
  store::ProtectOptions options;
  CALPE_TRY(options.spec, spec_of(arguments));
  CALPE_TRY(options.block_bytes, block_bytes_of(arguments));
  CALPE_TRY(options.name, name_of(arguments));
  CALPE_CHECK(check_targets(arguments));
  CALPE_TRY(const std::vector<std::string> older, find_older(arguments.targets, options.name));
  CALPE_CHECK(check_overwrite(arguments, older));
  CALPE_TRY(store::FileSystem * files, files_of(arguments.files));
  store::HeldFiles held(*files, store::LockKind::exclusive);
  CALPE_CHECK(hold_older(held, older));
  const ReplacedSets replaced = look_at_older(held, older);
  // Another protect of this name may have finished in the meantime.
  options.check_begun = [&]() -> Status {
    CALPE_TRY(const std::vector<std::string> now, find_older(arguments.targets, options.name));
    if (now != older) return store::locked_error(store::LockKind::exclusive);
    return Done{};
  };
  options.targets = arguments.targets;
  options.jobs = arguments.files.jobs;
  options.may_resume = !arguments.no_resume;
  CALPE_TRY(options.checkpoint_bytes, checkpoint_bytes_of(arguments));
  if (arguments.with_root) options.root_kind = store::RootKind::sha256;
  if (!arguments.files.roots.key_file.empty()) {
    options.root_kind = store::RootKind::hmac;
    CALPE_TRY(options.key, read_key_file(arguments.files.roots.key_file));
  }

  CALPE_TRY(const Content content, open_content(arguments));
  if (!arguments.redundancy.empty() && options.block_bytes == 0)
    options.block_bytes = scattered_block_bytes(content.originals->data_bytes());
  CALPE_CHECK(check_free_space(arguments, content, options));
  std::set<std::string> unmounted;
  for (const std::string& target : arguments.targets) {
    const std::string note = unmounted_note(target);
    if (!note.empty() && unmounted.insert(note).second) print_note(arguments.files, note);
  }
  Progress bar("protecting " + printable(options.name));
  CALPE_TRY(const store::ProtectedSet made, write_set(held, content, options, bar));
  bar.end();
  const std::vector<std::string> left = remove_replaced(held, older, replaced, made.paths);
  const std::vector<std::string> notes = notes_on(arguments, content, made.header, left);
  for (const std::string& note : notes)
    print_note(arguments.files, note);
  if (arguments.files.json) {
    print_json(made_json(made, content, notes));
  } else {
    print_made(arguments, made, content);
  }
  print_unreadable(content);
  return content.unreadable().empty() ? exit_ok : exit_not_ok;
}

void add_code_options(CLI::App& command, ProtectArguments& arguments) {
  CLI::Option* const data =
      command
          .add_option("--data", arguments.data, "Data shards, k; any k shards restore everything")
          ->capture_default_str()
          ->check(CLI::Range(1U, 255U));
  CLI::Option* const parity =
      command
          .add_option("--parity", arguments.parity, "Parity shards, m; any m shards may be lost")
          ->capture_default_str()
          ->check(CLI::Range(1U, 255U));
  command
      .add_option("--redundancy", arguments.redundancy,
                  "With --keep-original: size of all parity, such as 10% of the data")
      ->type_name("PERCENT")
      ->excludes(data)
      ->excludes(parity);
  command.add_option("--profile", arguments.profile, "Code, one of those that calpe codes lists")
      ->type_name("PROFILE")
      ->capture_default_str();
  command.add_option("--groups", arguments.groups, "Local groups, for --profile lrc")
      ->check(CLI::Range(1U, 255U));
  command
      .add_option("--block-bytes", arguments.block_bytes,
                  "Block size, such as 64K (default: 64K, less for small files)")
      ->type_name("BYTES");
}

}  // namespace

void add_protect_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ProtectArguments>();
  CLI::App* const command =
      add_files_verb(app, arguments->files, "protect",
                     "Split a file, directory or standard input into shards\n\n"
                     "Writes k data shards and m parity shards, of which any k restore everything. "
                     "The shards go to the target directories in turn.");
  command->footer(
      std::string(exit_codes_help) +
      "\n\nExample: calpe protect photos --data 4 --parity 2 -o /mnt/a -o /mnt/b -o /mnt/c\n"
      "Example: calpe protect photos --keep-original\n\nSee calpe-protect(1).");
  command
      ->add_option("SOURCE", arguments->sources,
                   "File, directory, or - for standard input; repeatable, with --name")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--exclude", arguments->exclude,
                   "Leave out this file or directory; may contain * ? [...] and be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
  add_code_options(*command, *arguments);
  command
      ->add_option("-o,--output", arguments->targets,
                   "Target directory; repeatable (default: the current directory)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command
      ->add_option("--name", arguments->name,
                   "Name of the set (default: last part of the path, or stdin)")
      ->type_name("NAME");
  command->add_flag("--root", arguments->with_root,
                    "Also compute a SHA-256 root that identifies the content");
  add_key_option(*command, arguments->files.roots, "Key for an HMAC of the root; implies --root");
  add_jobs_option(*command, arguments->files);
  command->add_flag("--keep-original", arguments->keep_original,
                    "Write parity files only; the data stays in place");
  add_io_option(*command, arguments->files, "");
  command->add_flag("--overwrite", arguments->overwrite, "Replace shards of the same name");
  command->add_flag("--no-space-check", arguments->no_space_check,
                    "Write even if the targets seem to have too little space");
  command->add_flag("--no-resume", arguments->no_resume,
                    "Start over instead of resuming an interrupted run");
  command->add_option("--checkpoint", arguments->checkpoint, "Input between two checkpoints")
      ->type_name("BYTES")
      ->capture_default_str();
  command->callback([arguments, &exit_code] {
    exit_code = run_files_verb(arguments->files,
                               [&](const FilesArguments&) { return protect(*arguments); });
  });
}

}  // namespace calpe::tools
