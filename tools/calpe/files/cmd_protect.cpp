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
#include "calpe/cli/progress_bar.hpp"
#include "calpe/files/files_common.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/original_paths.hpp"
#include "calpe/files/replaced_sets.hpp"
#include "calpe/verbs.hpp"
#include "store/format/geometry.hpp"
#include "store/tree/in_place_source.hpp"
#include "store/tree/tree.hpp"
#include "store/write/protect.hpp"

namespace calpe::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t name_bytes_max = 200;  // file names have 255, with what we add

struct ProtectArguments {
  FilesArguments files;
  std::string source;
  unsigned data = 10;
  unsigned parity = 4;
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

  unsigned shards() const { return data + parity; }
  bool is_stream() const { return source == "-"; }
};

Result<std::string> name_of(const ProtectArguments& arguments) {
  std::string name = arguments.name;
  if (name.empty() && arguments.is_stream()) name = "stdin";
  if (name.empty() && arguments.keep_original) {
    CALPE_TRY(const OriginalName original, original_name(arguments.source));
    name = original.name;
  }
  if (name.empty()) {
    std::error_code error;
    const fs::path whole = fs::canonical(arguments.source, error);
    if (error)
      return make_error(ErrorCode::io, "cannot read ", arguments.source, ": ", error.message());
    // What the path says, where it says a name: a link is called what it is called.
    fs::path last = fs::path(arguments.source).filename();
    if (last.empty() || last == "." || last == "..") last = whole.filename();
    name = last.empty() ? "root" : last.string();
  }
  if (name.find('/') != std::string::npos || name == "." || name == "..")
    return invalid("the name is \"", name, "\", expected one without folders; give --name");
  if (name.size() > name_bytes_max) {
    return invalid("the name has ", name.size(), " bytes, expected at most ", name_bytes_max,
                   "; give a shorter --name");
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
                 "\", expected a multiple of 64 such as 4096 or 64K, at most 16M");
}

Result<std::uint64_t> checkpoint_bytes_of(const ProtectArguments& arguments) {
  if (const auto bytes = parse_bytes(arguments.checkpoint); bytes) {
    return std::uint64_t{*bytes};
  }
  return invalid("--checkpoint is \"", arguments.checkpoint, "\", expected bytes such as 256M");
}

Result<CodeSpec> spec_of(const ProtectArguments& arguments) {
  CALPE_TRY(CodeSpec spec, find_profile(arguments.profile));
  if (spec.layout != Layout::bytes) {
    return invalid("--profile ", arguments.profile,
                   " is for packets only, expected one for bytes; calpe codes lists them");
  }
  spec.data_shards = arguments.data;
  spec.parity_shards = arguments.parity;
  if (arguments.groups != 0 && spec.family != CodeFamily::lrc)
    return invalid("--groups is for --profile lrc, expected none with ", arguments.profile);
  if (spec.family == CodeFamily::lrc && arguments.groups == 0)
    return invalid("--profile lrc needs --groups, the number of local groups, such as 2");
  spec.local_groups = arguments.groups;
  return spec;
}

// Shards that protect shards would double with every run.
Status check_targets(const ProtectArguments& arguments) {
  std::error_code error;
  const fs::path source =
      arguments.is_stream() ? fs::path() : fs::canonical(arguments.source, error);
  std::set<fs::path> seen;
  for (const std::string& target : arguments.targets) {
    const fs::path whole = fs::weakly_canonical(target, error);
    if (!seen.insert(whole).second)
      return invalid("-o ", target, " is given twice: what is lost with it counts once");
    if (arguments.is_stream() || !fs::is_directory(source, error)) continue;
    const auto [end, in_target] =
        std::mismatch(source.begin(), source.end(), whole.begin(), whole.end());
    if (end == source.end()) {
      return invalid("the target ", target, " is in ", arguments.source,
                     ", which is to be protected; name another with -o");
    }
  }
  return Done{};
}

// Empty when they will be found.
std::string original_note(const ProtectArguments& arguments, const std::string& name) {
  const Result<OriginalName> original = original_name(arguments.source);
  const bool is_beside = original && original->name == name &&
                         std::any_of(arguments.targets.begin(), arguments.targets.end(),
                                     [&](const std::string& target) {
                                       std::error_code error;
                                       return fs::equivalent(target, original->folder, error);
                                     });
  if (is_beside) return {};
  return text("the original is not beside its parity files under the name ", name,
              ": verify, repair and restore need --original ", arguments.source);
}

// Empty when any one target may be lost.
std::string target_note(const ProtectArguments& arguments, const store::ShardHeader& header) {
  if (arguments.keep_original) return original_note(arguments, header.name);
  const CodeSpec& spec = header.spec;
  const auto targets = static_cast<unsigned>(arguments.targets.size());
  const unsigned shards = arguments.shards();
  const unsigned most = divide_up(shards, targets);
  // Whichever they are: with a code that is not MDS fewer than there are parity shards.
  const auto losses = std::max(1U, static_cast<unsigned>(losses_of(spec)));
  if (most <= losses) return {};
  const unsigned enough = divide_up(shards, losses);
  const std::string advice = fmt::format("with {} targets any one may be lost", enough);
  if (targets == 1) {
    return fmt::format("1 target: it holds all {} shards; losing it loses the data; {}", shards,
                       advice);
  }
  const bool is_even = shards % targets == 0;
  return fmt::format(
      "{} targets: each holds {}{} of {} shards; losing one target {} more than {} shards, so the "
      "data would be lost; {}",
      targets, is_even ? "" : "up to ", most, shards, is_even ? "loses" : "may lose", losses,
      advice);
}

// Counts what is read: the library tells of whole batches only, and a slow pipe takes long for one.
class CountedSource : public store::ContentSource {
 public:
  CountedSource(store::ContentSource& source, ProgressBar& bar) : source_(source), bar_(bar) {}

  std::optional<std::uint64_t> bytes_expected() const override { return source_.bytes_expected(); }
  Result<std::size_t> read(std::span<std::byte> bytes) override {
    auto count = source_.read(bytes);
    if (count) done_ += *count;
    bar_.update(done_, bytes_expected().value_or(0));
    return count;
  }
  std::vector<std::byte> identity() const override { return source_.identity(); }
  Status skip(std::uint64_t bytes) override {
    done_ += bytes;
    return source_.skip(bytes);
  }
  std::uint64_t manifest_offset() const override { return source_.manifest_offset(); }
  std::uint64_t manifest_bytes() const override { return source_.manifest_bytes(); }

 private:
  store::ContentSource& source_;
  ProgressBar& bar_;
  std::uint64_t done_ = 0;
};

struct Content {
  std::unique_ptr<store::ContentSource> source;
  std::unique_ptr<store::OriginalSource> originals;  // instead
  std::string what;                                  // "3 files"
  std::vector<std::string> skipped;
};

std::string files_of(const store::Manifest& manifest) {
  const std::vector<store::Entry>& entries = manifest.entries;
  const auto files = std::count_if(entries.begin(), entries.end(), [](const store::Entry& entry) {
    return entry.type == store::EntryType::file;
  });
  return count_text(static_cast<std::uint64_t>(files), "file");
}

Result<Content> open_content(const ProtectArguments& arguments) {
  if (arguments.is_stream()) {
    return Content{.source = store::make_stream_source(STDIN_FILENO),
                   .originals = {},
                   .what = "a stream",
                   .skipped = {}};
  }
  Content content;
  if (arguments.keep_original) {
    CALPE_TRY(content.originals, store::OriginalSource::open(arguments.source));
    content.what = files_of(content.originals->manifest());
    content.skipped = content.originals->skipped();
    return content;
  }
  CALPE_TRY(std::unique_ptr<store::TreeSource> tree, store::TreeSource::open(arguments.source));
  content.what = files_of(tree->manifest());
  content.skipped = tree->skipped();
  content.source = std::move(tree);
  return content;
}

void print_made(const ProtectArguments& arguments, const store::ProtectedSet& made,
                const Content& content) {
  const store::ShardHeader& header = made.header;
  fmt::print("{}: {}, {} {} of {}.\n", set_title(header), content.what,
             bytes_text(header.content_bytes),
             arguments.keep_original ? "and " + count_text(made.paths.size(), "parity file")
                                     : text("in ", made.paths.size(), " shards"),
             bytes_text(store::shard_file_bytes(header)));
  if (made.resumed_bytes > 0) {
    fmt::print("Went on after {}, where a protect before was interrupted.\n",
               bytes_text(made.resumed_bytes));
  }
  if (header.root_kind != store::RootKind::none)
    fmt::print("Root {}\n", store::to_text(header.set_root));
  std::string places;
  for (const std::string& target : arguments.targets)
    places += " " + target;
  if (arguments.keep_original) {
    // Losses of whole files are at worst spread unevenly over the parts.
    fmt::print(
        "Up to {} of {} parts of the data, or as many parity files instead, may be lost or "
        "damaged.\nTo look at them: calpe verify{}\n",
        header.spec.parity_shards, header.spec.data_shards, printable(places));
    return;
  }
  fmt::print("{} To look at them: calpe verify{}\n", losses_text(header.spec), printable(places));
}

nlohmann::ordered_json made_json(const store::ProtectedSet& made, const Content& content,
                                 const std::vector<std::string>& notes) {
  return {{"set", to_json(made.header)}, {"shard_bytes", store::shard_file_bytes(made.header)},
          {"shards", made.paths},        {"resumed_bytes", made.resumed_bytes},
          {"skipped", content.skipped},  {"notes", notes}};
}

Status check_overwrite(const ProtectArguments& arguments, const std::vector<std::string>& older) {
  if (older.empty() || arguments.overwrite) return Done{};
  return invalid(older.front(), " exists",
                 older.size() > 1 ? text(" (and ", older.size() - 1, " more)") : "",
                 "; --overwrite replaces it, --name gives the new set another name");
}

std::vector<std::string> notes_on(const ProtectArguments& arguments, const Content& content,
                                  const store::ShardHeader& header,
                                  const std::vector<std::string>& left) {
  std::vector<std::string> notes;
  for (const std::string& path : content.skipped)
    notes.push_back(path + " is no file, folder or link: not protected");
  for (const std::string& path : left)
    notes.push_back(path + " is of an older set and was left; remove it");
  if (std::string note = target_note(arguments, header); !note.empty())
    notes.push_back(std::move(note));
  return notes;
}

Result<store::ProtectedSet> write_set(store::FileSystem& files, const Content& content,
                                      store::ProtectOptions options, ProgressBar& bar) {
  if (content.originals) {
    options.on_progress = [&](std::uint64_t done, std::uint64_t all) { bar.update(done, all); };
    return store::protect_originals(files, *content.originals, options);
  }
  CountedSource counted(*content.source, bar);
  return store::protect(files, counted, options);
}

// Parity files go beside the original.
Status choose_targets(ProtectArguments& arguments) {
  if (arguments.keep_original && arguments.is_stream())
    return invalid("standard input has no original to keep; leave out --keep-original");
  if (!arguments.targets.empty()) return Done{};
  arguments.targets.emplace_back(".");
  if (!arguments.keep_original) return Done{};
  CALPE_TRY(const OriginalName original, original_name(arguments.source));
  arguments.targets.front() = original.folder;
  return Done{};
}

// A command that changes the set which is replaced has its files locked.
Status hold_older(store::HeldFiles& files, const std::vector<std::string>& older) {
  for (const std::string& path : older) {
    CALPE_TRY(const bool is_held, files.hold(path));
    if (!is_held) return store::locked_error(store::LockKind::exclusive);
  }
  return Done{};
}

Result<int> protect(ProtectArguments arguments) {
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
  // Another protect of this name may have ended since.
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
  ProgressBar bar("protecting " + printable(options.name));
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
  return exit_ok;
}

void add_code_options(CLI::App& command, ProtectArguments& arguments) {
  command.add_option("--data", arguments.data, "Data shards, k: so many restore everything")
      ->capture_default_str()
      ->check(CLI::Range(1U, 255U));
  command.add_option("--parity", arguments.parity, "Parity shards, m: so many may be lost")
      ->capture_default_str()
      ->check(CLI::Range(1U, 255U));
  command.add_option("--profile", arguments.profile, "A name from `calpe codes`")
      ->type_name("PROFILE")
      ->capture_default_str();
  command.add_option("--groups", arguments.groups, "Local groups, for the profile lrc")
      ->check(CLI::Range(1U, 255U));
  command
      .add_option("--block-bytes", arguments.block_bytes,
                  "Of data with one checksum, such as 64K; chosen if not given")
      ->type_name("BYTES");
}

}  // namespace

void add_protect_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ProtectArguments>();
  CLI::App* const command = add_files_verb(
      app, arguments->files, "protect",
      "Make shards of a file, a folder or standard input (-): k of data and m of parity, of which\n"
      "any k restore everything. Shard i goes to the target i modulo their number.\n\n"
      "Example: calpe protect photos --data 4 --parity 2 -o /mnt/a -o /mnt/b -o /mnt/c\n"
      "Example: calpe protect photos --keep-original");
  command->add_option("source", arguments->source, "File, folder, or - for standard input")
      ->type_name("FILE")
      ->required();
  add_code_options(*command, *arguments);
  command
      ->add_option(
          "-o,--output", arguments->targets,
          "Target folder, made if need be; repeatable; the folder we are in if not given,\n"
          "or with --keep-original the folder that the source is in")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  command
      ->add_option("--name", arguments->name,
                   "Of the set and its files; the last part of the path, or stdin, if not given")
      ->type_name("NAME");
  command->add_flag("--root", arguments->with_root,
                    "Also hash every block: a SHA-256 root proves what was protected");
  add_key_option(*command, arguments->files.roots,
                 "As --root, and an HMAC of it that takes this key to make or to check");
  add_jobs_option(*command, arguments->files);
  command->add_flag("--keep-original", arguments->keep_original,
                    "Make parity files only: the data stay where they are, and are not copied");
  add_io_option(*command, arguments->files, "");
  command->add_flag("--overwrite", arguments->overwrite, "Replace shards that have the same names");
  command->add_flag("--no-resume", arguments->no_resume,
                    "Start over where a protect before was interrupted");
  command
      ->add_option("--checkpoint", arguments->checkpoint,
                   "How much may have to be done again after an interruption")
      ->type_name("BYTES")
      ->capture_default_str();
  command->callback([arguments, &exit_code] {
    exit_code = run_files_verb(arguments->files,
                               [&](const FilesArguments&) { return protect(*arguments); });
  });
}

}  // namespace calpe::tools
