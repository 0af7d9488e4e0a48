// SPDX-License-Identifier: Apache-2.0
// Shared by the verbs of `calpe remote`: places, selection of the set, errors, exit codes.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "remote/set/change_lock.hpp"
#include "remote/set/remote_check.hpp"
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
  std::vector<std::string> taken_over;  // numbers of marks, in digits
};

// Adds a verb with --json, --attempts and --timeout.
CLI::App* add_remote_verb(CLI::App& remote, RemoteArguments& arguments, const std::string& name,
                          const std::string& description, const std::string& examples);
void add_places(CLI::App& verb, RemoteArguments& arguments);  // PLACE... and --uuid
void add_prefer_option(CLI::App& verb, RemoteArguments& arguments);
void add_take_over_option(CLI::App& verb, RemoteArguments& arguments);
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

// Verb and --take-over, for the mark of a command that changes a set.
Result<remote::ChangeOptions> change_options(const RemoteArguments& arguments);

// "Any 1 of the 3 places may be lost."
std::string losses_text(std::size_t may_fail, std::size_t places);
// The same for a set, with what can be done if it is less than the set is made for. Empty if data
// is lost.
std::string losses_text(const remote::PlaceLosses& losses);
void add_losses(nlohmann::ordered_json& json, const remote::PlaceLosses& losses);

std::string remote_title(const remote::Generation& generation);  // "photos (4+2 hybrid, set ...)"

void add_remote_protect(CLI::App& remote, int& exit_code);
void add_remote_update(CLI::App& remote, int& exit_code);
void add_remote_restore(CLI::App& remote, int& exit_code);
void add_remote_info(CLI::App& remote, int& exit_code);
void add_remote_verify(CLI::App& remote, int& exit_code);
void add_remote_repair(CLI::App& remote, int& exit_code);
void add_remote_forget(CLI::App& remote, int& exit_code);

}  // namespace calpe::tools
