// SPDX-License-Identifier: Apache-2.0
// What the verbs for files share: their place in the command, exit codes, errors, and how the set
// that is meant is found.
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

// Heading of the verbs for files in calpe --help.
inline constexpr const char* files_group = "Files, block devices, Ceph";

struct FilesArguments {
  std::string verb;                 // "verify"
  std::vector<std::string> paths;   // folders with shards, or shards
  std::vector<std::string> search;  // more of the same
  std::string uuid;                 // or its beginning
  RootArguments roots;              // of those verbs that have them
  std::string original;             // what parity files are of; empty: beside them
  unsigned jobs = 1;
  std::string io;  // "threads" or "uring"; empty: the faster that is there
  bool json = false;
  bool accepts_older = false;  // restore: a generation of which there is a newer one
};

// In the group of the verbs for files, with their exit codes below the help.
CLI::App* add_files_verb(CLI::App& app, FilesArguments& arguments, const std::string& name,
                         const std::string& description);
void add_set_options(CLI::App& verb, FilesArguments& arguments);
void add_jobs_option(CLI::App& verb, FilesArguments& arguments);
// What is faster for this verb is `usual`; empty: uring where it is there.
void add_io_option(CLI::App& verb, FilesArguments& arguments, const std::string& usual);
// What --io asks for.
Result<store::FileSystem*> files_of(const FilesArguments& arguments);

// Runs the verb: what it returns is the exit code; an error is printed with what to do next.
int run_files_verb(const FilesArguments& arguments,
                   const std::function<Result<int>(const FilesArguments&)>& work);
// Damage is no reason to give up, and not wrong usage either: exit 1, as verify says it.
int say_damaged(const FilesArguments& arguments, const Error& error);
void print_note(const FilesArguments& arguments, std::string_view note);
void print_json(const nlohmann::ordered_json& json);

// A set and the file system that holds its files: they are locked as long as it lives, and what is
// done to the set goes through it.
struct HeldSet {
  store::FoundSet set;
  std::unique_ptr<store::HeldFiles> files;
};

// Every set in the places that the arguments name ("." if none), or only the one that is asked for
// by uuid or by naming one of its shards; then its folder is searched, too. A place that cannot be
// read is a note, for a lost disk is no reason not to look at the others; that none can is an
// error. All are locked for reading.
struct HeldFindings {
  store::Findings findings;
  std::vector<std::unique_ptr<store::HeldFiles>> files;  // as the sets
};
Result<HeldFindings> find_shards(const FilesArguments& arguments);
// The one that is meant, among those that have the root and the key's HMAC that are asked for. Of
// originals, it also says where they are. Locked for reading.
Result<HeldSet> find_one_set(const FilesArguments& arguments);

// The same, locked for changing, after an interrupted change was completed or rolled back.
Result<HeldSet> find_settled_set(const FilesArguments& arguments);

std::string profile_name(const CodeSpec& spec);
// How many shards may be lost, whichever: m but for codes that are not MDS.
std::size_t losses_of(const CodeSpec& spec);
// "Any 2 shards may be lost or damaged.", and what more with such a code.
std::string losses_text(const CodeSpec& spec);
// "3 files", "1 file"
std::string count_text(std::uint64_t count, std::string_view what);
// "0, 3, 7 and 20 more"
std::string list_text(const std::vector<std::uint64_t>& numbers, std::uint64_t count);

}  // namespace calpe::tools
