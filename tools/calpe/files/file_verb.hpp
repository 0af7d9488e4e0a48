// SPDX-License-Identifier: Apache-2.0
// What all file verbs share: their options, their errors and their notes.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/files/files_roots.hpp"
#include "store/io/file_system.hpp"

namespace calpe::tools {

// Begins the error of paths that cannot be read; run_files_verb() has advice for it.
inline constexpr std::string_view none_readable_text = "none of the given paths can be read: ";

struct FilesArguments {
  std::string verb;                 // "verify"
  std::vector<std::string> paths;   // directories with shards, or shards
  std::vector<std::string> search;  // more of the same
  // Directories in which only further shards of the set are looked for, not other sets. They need
  // not exist.
  std::vector<std::string> targets;
  std::string uuid;      // or its first digits
  RootArguments roots;   // for verbs that have these options
  std::string original;  // path of kept originals; empty: next to the parity files
  unsigned jobs = 1;
  std::string io;  // "threads" or "uring"; empty: the faster one available
  bool json = false;
  bool accepts_older = false;  // restore: use an older generation if needed
  std::string generation;      // a number or "previous"; empty: the newest
};

// Adds a verb to the files group, with --json and the exit codes in the footer.
CLI::App* add_files_verb(CLI::App& app, FilesArguments& arguments, const std::string& name,
                         const std::string& description);
void add_set_options(CLI::App& verb, FilesArguments& arguments);
void add_generation_option(CLI::App& verb, FilesArguments& arguments, const std::string& what);
void add_jobs_option(CLI::App& verb, FilesArguments& arguments);
// `usual`: default, the faster method for this verb; empty: uring if available.
void add_io_option(CLI::App& verb, FilesArguments& arguments, const std::string& usual);
// Returns the file system that --io selects.
Result<store::FileSystem*> files_of(const FilesArguments& arguments);

// Runs a verb and returns its exit code; prints an error with advice on what to do next.
int run_files_verb(const FilesArguments& arguments,
                   const std::function<Result<int>(const FilesArguments&)>& work);
// For update: true if the error names a file in the source, which `original` holds.
bool is_below_source(const FilesArguments& arguments, const Error& error);
// Prints an error about repairable damage and returns exit code 1, as verify does.
int say_damaged(const FilesArguments& arguments, const Error& error);
void print_note(const FilesArguments& arguments, std::string_view note);

}  // namespace calpe::tools
