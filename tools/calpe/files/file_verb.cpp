// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/file_verb.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <system_error>
#include <thread>

#include "base/text.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/verbs.hpp"
#include "store/io/held_files.hpp"
#include "store/io/uring_files.hpp"

namespace calpe::tools {

namespace {

bool is_caused_by(const Error& error, int number) {
  return error.message.find(std::generic_category().message(number)) != std::string::npos;
}

std::string source_of(const FilesArguments& arguments) {
  std::string source = arguments.original;
  while (source.size() > 1 && source.ends_with('/'))
    source.pop_back();
  return source;
}

// Advice of update. No disk is lost if the source cannot be read.
std::string update_step(const FilesArguments& arguments, const Error& error, bool is_full) {
  if (is_full)
    return "free some space and run it again; calpe forget removes older generations, and --keep 1 "
           "keeps none";
  const bool is_about_source =
      error.message.find(" " + source_of(arguments) + ":") != std::string::npos;
  if (is_about_source || is_below_source(arguments, error)) return "fix the cause and run it again";
  return "fix the cause and run it again, without the directories of lost disks";
}

// Advice that follows an error message; empty if the message says enough.
std::string next_step(const FilesArguments& arguments, int exit_code, const Error& error) {
  const bool is_unproven = arguments.roots.is_any() && error.code == ErrorCode::corrupt;
  if (error.code == ErrorCode::ambiguous && arguments.verb == "add-parity")
    return "calpe info lists the generations; leave out the directories of those you do not want";
  if (error.code == ErrorCode::ambiguous && arguments.verb != "identify")
    return "calpe info prints the root of each generation; pass the root you trust with "
           "--expect-root or your key with --key-file, or leave out the directories of the others";
  if (exit_code == exit_usage) return fmt::format("see: calpe {} --help", arguments.verb);
  if (is_unproven) return "no data was used; calpe info prints the roots of all sets found";
  if (exit_code == exit_lost && arguments.verb == "ceph-scrub")
    return "add more OSDs or shards of the same objects, and try again";
  if (exit_code == exit_lost)
    return "find more shards, add their directories, and try again; calpe verify lists the damage";
  if (store::is_locked_error(error))
    return "wait until the other command has finished, then run this one again";
  if (error.message.starts_with(none_readable_text))
    return "name the directories that hold the shards";
  const bool is_full = is_caused_by(error, ENOSPC) || is_caused_by(error, EDQUOT);
  if (arguments.verb == "protect" && is_caused_by(error, ENOENT)) return {};
  if (arguments.verb == "update") return update_step(arguments, error, is_full);
  if (is_full && arguments.verb != "protect" && arguments.verb != "restore")
    return "free some space and run it again";
  if (arguments.verb == "protect" && is_full)
    return "free some space and run it again, or use another -o";
  if (arguments.verb == "protect")
    return "fix the cause and run it again; use another -o if a target is full or broken";
  if (arguments.verb == "restore")
    return "fix the cause and run it again; --resume keeps the completed files";
  if (arguments.verb == "ceph-scrub") return "fix the cause and run it again";
  return "fix the cause and run it again, without the directories of lost disks";
}

}  // namespace

bool is_below_source(const FilesArguments& arguments, const Error& error) {
  return error.code == ErrorCode::io &&
         error.message.find(" " + source_of(arguments) + "/") != std::string::npos;
}

CLI::App* add_files_verb(CLI::App& app, FilesArguments& arguments, const std::string& name,
                         const std::string& description) {
  arguments.verb = name;
  CLI::App* const verb = app.add_subcommand(name, description);
  verb->group(files_group);
  verb->add_flag("--json", arguments.json, "Print the result as JSON");
  verb->footer(exit_codes_help);
  return verb;
}

void add_set_options(CLI::App& verb, FilesArguments& arguments) {
  verb.add_option("PATH", arguments.paths,
                  "Directories with shards, or shards (default: the current directory)")
      ->type_name("FILE");
  verb.add_option("--search", arguments.search, "Further directory to search; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
  verb.add_option("--original", arguments.original,
                  "Data that the parity files protect (default: next to them)")
      ->type_name("FILE");
  verb.add_option("--uuid", arguments.uuid,
                  "UUID of the set, or its first digits, if there are several")
      ->type_name("UUID");
}

void add_generation_option(CLI::App& verb, FilesArguments& arguments, const std::string& what) {
  verb.add_option("--generation", arguments.generation, what)->type_name("NUMBER");
}

void add_jobs_option(CLI::App& verb, FilesArguments& arguments) {
  // The library starts only the threads it is told to. The command must not fill a whole server.
  arguments.jobs = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
  verb.add_option("--jobs", arguments.jobs, "Threads (default: number of cores, at most 4)")
      ->check(CLI::Range(1U, 256U));
}

void add_io_option(CLI::App& verb, FilesArguments& arguments, const std::string& usual) {
  const std::string default_text =
      usual.empty() ? "(default: uring if available)" : "(default: " + usual + ")";
  arguments.io = usual;
  verb.add_option("--io", arguments.io, "I/O method for shards " + default_text)
      ->check(CLI::IsMember({"uring", "threads"}));
}

Result<store::FileSystem*> files_of(const FilesArguments& arguments) {
  if (arguments.io == "threads") return &store::posix_files();
  auto files = store::uring_files();
  if (!files && arguments.io.empty()) return &store::posix_files();
  if (!files) return make_error(files.error().code, "--io uring: ", files.error().message);
  return files;
}

int run_files_verb(const FilesArguments& arguments,
                   const std::function<Result<int>(const FilesArguments&)>& work) {
  const Result<int> done = work(arguments);
  if (done) return *done;
  const Error& error = done.error();
  const int exit_code = exit_code_of(error.code);
  fmt::print(stderr, "calpe {}: {}\n", arguments.verb, printable(error.message));
  if (const std::string advice = next_step(arguments, exit_code, error); !advice.empty())
    fmt::print(stderr, "calpe {}: {}\n", arguments.verb, advice);
  if (arguments.json) print_json({{"error", error.message}, {"exit_code", exit_code}});
  return exit_code;
}

int say_damaged(const FilesArguments& arguments, const Error& error) {
  fmt::print(stderr, "calpe {}: {}\n", arguments.verb, printable(error.message));
  if (arguments.json) print_json({{"error", error.message}, {"exit_code", exit_not_ok}});
  return exit_not_ok;
}

void print_note(const FilesArguments& arguments, std::string_view note) {
  fmt::print(stderr, "calpe {}: note: {}\n", arguments.verb, printable(note));
}

}  // namespace calpe::tools
