// SPDX-License-Identifier: Apache-2.0
// Shared by the verbs of `calpe remote`: places, selection of the set, errors, exit codes.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "remote/set/remote_set.hpp"

namespace calpe::tools {

struct RemoteArguments {
  std::string verb;  // "verify"
  std::vector<std::string> places;
  std::vector<std::string> prefer;
  std::string uuid;
  std::uint64_t generation = 0;  // 0: the newest
  unsigned attempts = 6;
  unsigned timeout_s = 60;
  bool json = false;
};

// Adds a verb with --json, --attempts and --timeout.
CLI::App* add_remote_verb(CLI::App& remote, RemoteArguments& arguments, const std::string& name,
                          const std::string& description, const std::string& examples);
void add_places(CLI::App& verb, RemoteArguments& arguments);  // PLACE... and --uuid
void add_prefer_option(CLI::App& verb, RemoteArguments& arguments);
void add_generation_option(CLI::App& verb, RemoteArguments& arguments);
void add_read_back_flag(CLI::App& verb, bool& reads_back);

// Runs the verb and returns its exit code. Prints errors.
int run_remote_verb(const RemoteArguments& arguments, const std::function<Result<int>()>& work);
void print_remote_note(const RemoteArguments& arguments, std::string_view note);

// Opens and lists the places. Notes those that do not answer.
Result<remote::Places> reach_places(const RemoteArguments& arguments);
// The one set that the user means. Fails with io if there is none.
Result<remote::RemoteSet> choose_set(remote::Places& places, const RemoteArguments& arguments);
// The newest generation, or the one of --generation.
Result<remote::Generation> choose_generation(remote::Places& places, const remote::RemoteSet& set,
                                             const RemoteArguments& arguments);

std::string remote_title(const remote::Generation& generation);  // "photos (4+2 hybrid, set ...)"

void add_remote_protect(CLI::App& remote, int& exit_code);
void add_remote_update(CLI::App& remote, int& exit_code);
void add_remote_restore(CLI::App& remote, int& exit_code);
void add_remote_info(CLI::App& remote, int& exit_code);
void add_remote_verify(CLI::App& remote, int& exit_code);
void add_remote_repair(CLI::App& remote, int& exit_code);
void add_remote_forget(CLI::App& remote, int& exit_code);

}  // namespace calpe::tools
