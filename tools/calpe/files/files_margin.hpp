// SPDX-License-Identifier: Apache-2.0
// Says how much of a set may still be lost, and how to spread it better.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "calpe/files/files_common.hpp"
#include "store/read/loss_margin.hpp"
#include "store/read/verify_set.hpp"

namespace calpe::tools {

using Margin = std::optional<store::LossMargin>;  // nothing: data is lost, or it is not known

// Folders that were named, with shards or without; those of --search only where they hold some.
std::vector<std::string> named_folders(const FilesArguments& arguments);

// After every block was read.
Result<Margin> margin_of(const FilesArguments& arguments, const store::FoundSet& set,
                         const store::VerifyReport& report);
// Of the set as it is now, by its headers; nothing where that cannot be told, as the command before
// has succeeded. `more`: folders that were not named as places.
Margin margin_now(const FilesArguments& arguments, const store::ShardHeader& header,
                  const std::vector<std::string>& more);

// "Any 2 of 6 shards, any 1 of 3 directories and no device (of 1) may still be lost."
std::string margin_text(const store::ShardHeader& header, const store::LossMargin& margin);
// What to do about a bad spread; empty where it is as good as it can be.
std::string spread_note(const store::LossMargin& margin);
// Adds the numbers; null where there is nothing to say.
void add_margin(nlohmann::ordered_json& json, const Margin& margin);
// The sentence, and the note on standard error.
void print_margin(const FilesArguments& arguments, const store::ShardHeader& header,
                  const Margin& margin);

// A word as a shell takes it.
std::string quoted(const std::string& word);

}  // namespace calpe::tools
