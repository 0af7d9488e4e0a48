// SPDX-License-Identifier: Apache-2.0
// What the verbs of `calpe array` share: which array is meant, errors, exit codes.
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

// Below `calpe array`, from which it has the exit codes below its help.
CLI::App* add_array_verb(CLI::App& array, ArrayArguments& arguments, const std::string& name,
                         const std::string& description);
// Members or --control, and --json.
void add_place_options(CLI::App& verb, ArrayArguments& arguments);

// Runs the verb: what it returns is the exit code; an error is printed with what to do next.
int run_array_verb(const ArrayArguments& arguments, const std::function<Result<int>()>& work);
// The same with whoever answers for the array, closed in good order.
int run_with_array(const ArrayArguments& arguments,
                   const std::function<Result<int>(ArrayEndpoint&)>& work);

void add_array_create(CLI::App& array, int& exit_code);
void add_array_grow_parity(CLI::App& array, int& exit_code);
void add_array_status(CLI::App& array, int& exit_code);   // and explain
void add_array_members(CLI::App& array, int& exit_code);  // fail, replace, add
void add_array_upkeep(CLI::App& array, int& exit_code);   // rebuild, scrub, rate

}  // namespace calpe::tools
