// SPDX-License-Identifier: Apache-2.0
// Shared by the file verbs: common options, error output, and finding the set that the user means.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/files/files_roots.hpp"
#include "store/find/held_set.hpp"
#include "store/find/set_discovery.hpp"

namespace calpe::tools {

// Heading of these verbs in calpe --help.
inline constexpr const char* files_group = "Files, block devices, Ceph";

struct FilesArguments {
  std::string verb;                 // "verify"
  std::vector<std::string> paths;   // directories with shards, or shards
  std::vector<std::string> search;  // more of the same
  std::string uuid;                 // or its first digits
  RootArguments roots;              // for verbs that have these options
  std::string original;             // path of kept originals; empty: next to the parity files
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
// Prints an error about repairable damage and returns exit code 1, as verify does.
int say_damaged(const FilesArguments& arguments, const Error& error);
void print_note(const FilesArguments& arguments, std::string_view note);
void print_json(const nlohmann::ordered_json& json);

// A set, and the file system that keeps its files locked. Access the set only through `files`.
struct HeldSet {
  store::FoundSet set;
  std::unique_ptr<store::HeldFiles> files;
  std::vector<store::FoundSet> older = {};  // kept generations, newest first
  // Generation that is newer than `set` but has too few shards; 0: none.
  std::uint64_t newer_lost = 0;
};

// Finds all sets in the given paths ("." by default), or only the one selected by UUID or by the
// path of one of its shards, whose directory is then searched too. Notes unreadable paths, such as
// lost disks, and fails only if none can be read. Locks all sets for reading.
struct HeldFindings {
  store::Findings findings;
  std::vector<std::unique_ptr<store::HeldFiles>> files;  // one per set
};
Result<HeldFindings> find_shards(const FilesArguments& arguments);
// Finds the one set the user means, among those that match the given root and key, and the path of
// its originals if it has any. Locks it for reading.
Result<HeldSet> find_one_set(const FilesArguments& arguments);

// Same, but locks the set for changing and first completes or rolls back an interrupted change.
Result<HeldSet> find_settled_set(const FilesArguments& arguments);

std::string profile_name(const CodeSpec& spec);
// Number of arbitrary shards that may be lost: m for MDS codes, else fewer.
std::size_t losses_of(const CodeSpec& spec);
// "Any 2 shards may be lost or damaged."; adds a clause if the code is not MDS.
std::string losses_text(const CodeSpec& spec);
// "3 files", "1 file"
std::string count_text(std::uint64_t count, std::string_view what);
// "0, 3, 7 and 20 more"
std::string list_text(const std::vector<std::uint64_t>& numbers, std::uint64_t count);

}  // namespace calpe::tools
