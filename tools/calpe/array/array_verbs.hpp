// SPDX-License-Identifier: Apache-2.0
// Shared by the verbs of `calpe array`: selection of the array, errors, exit codes.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "calpe/array/array_endpoint.hpp"

namespace calpe::tools {

struct ArrayArguments {
  std::string verb;  // "status"
  ArrayPlace place;
  bool json = false;
};

// Adds a verb; the exit codes of `calpe array` and the examples follow its options in --help.
CLI::App* add_array_verb(CLI::App& array, ArrayArguments& arguments, const std::string& name,
                         const std::string& description, const std::string& examples);
// Adds the members, --control and --json.
void add_place_options(CLI::App& verb, ArrayArguments& arguments);

// Runs the verb and returns its exit code. Prints errors.
int run_array_verb(const ArrayArguments& arguments, const std::function<Result<int>()>& work);
// The same, with the array opened and closed cleanly afterwards. If the array is not served, the
// request is first checked without opening the members for writing (array_checks.hpp).
int run_with_array(const ArrayArguments& arguments, const nlohmann::ordered_json& request,
                   const std::function<Result<int>(ArrayEndpoint&)>& work);

// Prints why a request was refused. Returns the exit code.
int show_refusal(const ArrayArguments& arguments, const nlohmann::ordered_json& answer);

void add_array_create(CLI::App& array, int& exit_code);
void add_array_grow(CLI::App& array, int& exit_code);
void add_array_grow_parity(CLI::App& array, int& exit_code);
void add_array_status(CLI::App& array, int& exit_code);   // and explain, metrics
void add_array_members(CLI::App& array, int& exit_code);  // fail, replace, add, remove
void add_array_scan(CLI::App& array, int& exit_code);
void add_array_upkeep(CLI::App& array, int& exit_code);  // rebuild, scrub, rate

}  // namespace calpe::tools
