// SPDX-License-Identifier: Apache-2.0
#include "calpe/files_common.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <thread>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/originals.hpp"
#include "store/file_system.hpp"
#include "store/new_generation.hpp"
#include "store/uring_files.hpp"

namespace calpe::tools {

namespace {

constexpr std::size_t listed_max = 10;

// What a person would do after it.
std::string next_step(const FilesArguments& arguments, int exit_code, bool is_unproven) {
  if (exit_code == files_exit_usage) return fmt::format("see: calpe {} --help", arguments.verb);
  if (is_unproven) return "nothing of it was used; calpe info prints the roots of all sets there";
  if (exit_code == files_exit_lost && arguments.verb == "ceph-scrub")
    return "name more OSDs or shards of the same objects, and try again";
  if (exit_code == files_exit_lost)
    return "find more shards, name their folders, and try again; calpe verify lists what is there";
  if (arguments.verb == "protect")
    return "mend that, or name other targets with -o, and run it again";
  if (arguments.verb == "restore")
    return "mend that and run it again, with --resume where a try before has left files";
  if (arguments.verb == "ceph-scrub") return "mend that and run it again";
  return "mend that and run it again; a folder on a lost disk may be left out";
}

// The same file under two names would be two copies of a shard.
std::string canonical(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::weakly_canonical(path, error);
  return error ? path : found.string();
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

Status check_readable(const std::string& path) {
  if (is_folder(path)) {
    CALPE_TRY([[maybe_unused]] const auto names, store::posix_files().list(path));
    return Done{};
  }
  CALPE_TRY([[maybe_unused]] const auto file, store::posix_files().open(path));
  return Done{};
}

struct Places {
  std::vector<std::string> folders;
  std::vector<std::string> files;  // that were named; each is also in one of the folders
};

Result<Places> places_of(const FilesArguments& arguments) {
  std::vector<std::string> paths = arguments.paths;
  paths.insert(paths.end(), arguments.search.begin(), arguments.search.end());
  if (paths.empty()) paths.emplace_back(".");
  Places places;
  std::set<std::string> seen;
  std::string unreadable;
  for (const std::string& path : paths) {
    if (const Status status = check_readable(path); !status) {
      unreadable = status.error().message;
      print_note(arguments, text(unreadable, "; going on without it"));
      continue;
    }
    std::string folder = path;
    if (!is_folder(path)) {
      places.files.push_back(path);
      folder = std::filesystem::path(path).parent_path().string();
      if (folder.empty()) folder = ".";
    }
    if (seen.insert(canonical(folder)).second) places.folders.push_back(folder);
  }
  if (places.folders.empty())
    return make_error(ErrorCode::io, "none of the places can be read: ", unreadable);
  return places;
}

bool is_lower_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-';
}

Result<std::string> uuid_beginning(const std::string& given) {
  std::string lower = given;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (lower.size() <= 36 && std::all_of(lower.begin(), lower.end(), is_lower_hexadecimal))
    return lower;
  return invalid("--uuid is \"", given,
                 "\", expected the beginning of a uuid such as 0b9a3c1e; calpe info lists them");
}

void keep_only(store::Findings& findings, const std::function<bool(const store::Uuid&)>& is_kept) {
  std::erase_if(findings.sets,
                [&](const store::FoundSet& set) { return !is_kept(set.header.uuid); });
}

Error none_there(const Places& places, const store::Findings& findings) {
  std::string where;
  for (const std::string& folder : places.folders)
    where += (where.empty() ? "" : ", ") + folder;
  if (!findings.unreadable.empty())
    return make_error(ErrorCode::io, "no shard in ", where,
                      " could be read: ", findings.unreadable.front());
  if (findings.unknown.empty())
    return invalid("no shards in ", where, "; name the folders that have them");
  return make_error(ErrorCode::unrecoverable, "no shard in ", where, " has a good header; ",
                    findings.unknown.front(), " is one of ", findings.unknown.size(),
                    " that are shards by their names");
}

}  // namespace

bool is_files_verb_called(const CLI::App& app) {
  const std::vector<CLI::App*> called = app.get_subcommands();
  return std::any_of(called.begin(), called.end(),
                     [](const CLI::App* verb) { return verb->get_group() == files_group; });
}

CLI::App* add_files_verb(CLI::App& app, FilesArguments& arguments, const std::string& name,
                         const std::string& description) {
  arguments.verb = name;
  CLI::App* const verb = app.add_subcommand(name, description);
  verb->group(files_group);
  verb->add_flag("--json", arguments.json, "Print JSON");
  verb->footer(
      "Exit codes: 0 fine, 1 damaged but repairable, 2 not repairable, 3 wrong usage, 4 input or "
      "output failed.");
  return verb;
}

void add_set_options(CLI::App& verb, FilesArguments& arguments) {
  verb.add_option("places", arguments.paths,
                  "Folders with shards, or shards; the folder we are in if none is given")
      ->type_name("FILE");
  verb.add_option("--search", arguments.search, "Another folder to look in; repeatable")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  verb.add_option("--original", arguments.original,
                  "The file or folder that parity files are of, where it is not beside them\n"
                  "under the name of the set")
      ->type_name("FILE");
  verb.add_option("--uuid", arguments.uuid, "Which set, where there are several; its beginning")
      ->type_name("UUID");
}

void add_jobs_option(CLI::App& verb, FilesArguments& arguments) {
  // The library takes no thread that it was not given. A command may, but not a whole server.
  arguments.jobs = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
  verb.add_option("--jobs", arguments.jobs, "Threads; as many as cores if not given, at most 4")
      ->check(CLI::Range(1U, 256U));
}

void add_io_option(CLI::App& verb, FilesArguments& arguments, const std::string& usual) {
  const std::string default_text =
      usual.empty() ? "uring where the kernel has it if not given" : usual + " if not given";
  arguments.io = usual;
  verb.add_option("--io", arguments.io,
                  "How shards are read and written: uring or threads; " + default_text)
      ->check(CLI::IsMember({"uring", "threads"}));
}

Result<store::FileSystem*> files_of(const FilesArguments& arguments) {
  if (arguments.io == "threads") return &store::posix_files();
  auto files = store::uring_files();
  if (!files && arguments.io.empty()) return &store::posix_files();
  if (!files) return make_error(files.error().code, "--io uring: ", files.error().message);
  return files;
}

int files_exit_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unproven:
    case ErrorCode::backend_unavailable:
    case ErrorCode::compile_failed:
      return files_exit_usage;
    case ErrorCode::unrecoverable:
    case ErrorCode::corrupt:
    case ErrorCode::ambiguous:
      return files_exit_lost;
    case ErrorCode::device_failed:
    case ErrorCode::io:
    case ErrorCode::out_of_memory:
      break;
  }
  return files_exit_io;
}

int run_files_verb(const FilesArguments& arguments,
                   const std::function<Result<int>(const FilesArguments&)>& work) {
  const Result<int> done = work(arguments);
  if (done) return *done;
  const Error& error = done.error();
  const int exit_code = files_exit_of(error.code);
  fmt::print(stderr, "calpe {}: {}\n", arguments.verb, printable(error.message));
  const bool is_unproven = arguments.roots.is_any() && error.code == ErrorCode::corrupt;
  fmt::print(stderr, "calpe {}: {}\n", arguments.verb,
             next_step(arguments, exit_code, is_unproven));
  if (arguments.json) print_json({{"error", error.message}, {"exit_code", exit_code}});
  return exit_code;
}

int say_damaged(const FilesArguments& arguments, const Error& error) {
  fmt::print(stderr, "calpe {}: {}\n", arguments.verb, printable(error.message));
  if (arguments.json) print_json({{"error", error.message}, {"exit_code", files_exit_damaged}});
  return files_exit_damaged;
}

void print_note(const FilesArguments& arguments, std::string_view note) {
  fmt::print(stderr, "calpe {}: note: {}\n", arguments.verb, printable(note));
}

void print_json(const nlohmann::ordered_json& json) {
  // Names of files need not be UTF-8, JSON must be.
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

Result<store::Findings> find_shards(const FilesArguments& arguments) {
  CALPE_TRY(const Places places, places_of(arguments));
  CALPE_TRY(const std::string beginning, uuid_beginning(arguments.uuid));
  CALPE_TRY(store::Findings findings, store::find_sets(store::posix_files(), places.folders));
  if (findings.sets.empty()) return none_there(places, findings);
  if (!beginning.empty()) {
    keep_only(findings,
              [&](const store::Uuid& uuid) { return store::to_text(uuid).starts_with(beginning); });
    if (findings.sets.empty()) {
      return invalid("no set there has a uuid that begins with ", beginning,
                     "; calpe info lists them");
    }
  } else if (!places.files.empty()) {
    CALPE_TRY(const store::Findings named, store::find_sets(store::posix_files(), places.files));
    if (named.sets.empty()) {
      return make_error(ErrorCode::corrupt, places.files.front(),
                        " has no good header; name its folder instead");
    }
    keep_only(findings, [&](const store::Uuid& uuid) {
      return std::any_of(named.sets.begin(), named.sets.end(),
                         [&](const store::FoundSet& set) { return set.header.uuid == uuid; });
    });
  }
  return findings;
}

Result<store::FoundSet> find_one_set(const FilesArguments& arguments) {
  CALPE_TRY(const store::RootDemand demand, demand_of(arguments.roots));
  CALPE_TRY(store::Findings findings, find_shards(arguments));
  CALPE_CHECK(store::keep_demanded(findings, demand));
  auto set = store::choose_set(findings);
  if (!set && set.error().code == ErrorCode::invalid_argument)
    return invalid(set.error().message, "; say which with --uuid");
  if (!set) return set;
  for (const std::string& why : findings.unreadable)
    print_note(arguments, text(why, ": not used"));
  for (const std::string& path : findings.unknown)
    print_note(arguments, text(path, " has no good header: not used"));
  if (set->header.kind == store::SetKind::originals) {
    CALPE_TRY(set->original, original_of(arguments.original, *set));
  }
  return set;
}

Result<store::FoundSet> find_settled_set(const FilesArguments& arguments) {
  CALPE_TRY(store::FoundSet set, find_one_set(arguments));
  CALPE_TRY(const std::size_t changed, store::settle_set(store::posix_files(), set));
  if (changed == 0) return set;
  print_note(arguments,
             text("a change that was not ended is done now, to ", count_text(changed, "shard")));
  return find_one_set(arguments);
}

std::string profile_name(const CodeSpec& spec) {
  for (const Profile& profile : list_profiles()) {
    if (profile.family == spec.family) return std::string(profile.name);
  }
  return fmt::format("family {}", static_cast<unsigned>(spec.family));
}

std::size_t losses_of(const CodeSpec& spec) {
  const Result<CodeProof> proof = prove(spec);
  return proof ? proof->losses : 0;
}

std::string losses_text(const CodeSpec& spec) {
  const std::size_t losses = losses_of(spec);
  const std::string any = fmt::format("Any {} may be lost or damaged", count_text(losses, "shard"));
  if (losses == spec.parity_shards) return any + ".";
  return fmt::format("{}, and many sets of up to {}.", any, spec.parity_shards);
}

std::string count_text(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string list_text(const std::vector<std::uint64_t>& numbers, std::uint64_t count) {
  const std::size_t listed = std::min(numbers.size(), listed_max);
  std::string out = fmt::format(
      "{}",
      fmt::join(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(listed), ", "));
  if (count > listed) out += fmt::format(" and {} more", count - listed);
  return out;
}

}  // namespace calpe::tools
