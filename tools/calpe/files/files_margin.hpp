// SPDX-License-Identifier: Apache-2.0
// Reports how much of a set may still be lost, and how to spread its shards better.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "calpe/files/file_verb.hpp"
#include "store/read/loss_margin.hpp"
#include "store/read/verify_set.hpp"

namespace calpe::tools {

using Margin = std::optional<store::LossMargin>;  // nullopt: data is lost, or the margin is unknown

// Directories given on the command line, with or without shards; not those of --search.
std::vector<std::string> named_folders(const FilesArguments& arguments);

// Margin by the blocks, after all were read.
Result<Margin> margin_of(const FilesArguments& arguments, const store::FoundSet& set,
                         const store::VerifyReport& report);
// Margin of the set as it is now, by its headers; nullopt if it cannot be determined. `more`:
// further directories.
Margin margin_now(const FilesArguments& arguments, const store::ShardHeader& header,
                  const std::vector<std::string>& more);

// "You can still lose any 2 of 6 shards, or any 1 of 3 directories. All shards are on one device."
std::string margin_text(const store::ShardHeader& header, const store::LossMargin& margin);
// Advice for a bad spread; empty if the spread is optimal.
std::string spread_note(const store::LossMargin& margin);
// True if shards are missing and the given directories are too few for them: one of them does not
// exist, or losing one would lose data even after a repair.
bool needs_new_directory(const FilesArguments& arguments, const store::VerifyReport& report,
                         const Margin& margin);
// Adds the numbers, or null if there is no margin.
void add_margin(nlohmann::ordered_json& json, const Margin& margin);
// Prints margin_text(), and spread_note() to standard error.
void print_margin(const FilesArguments& arguments, const store::ShardHeader& header,
                  const Margin& margin);

// Quotes a word for the shell.
std::string quoted(const std::string& word);

}  // namespace calpe::tools
