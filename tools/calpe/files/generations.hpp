// SPDX-License-Identifier: Apache-2.0
// Older generations of a set, as the file verbs choose and show them.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "calpe/files/file_verb.hpp"
#include "store/read/older_check.hpp"

namespace calpe::tools {

// Leaves only the given generation of the set. Does nothing if `wanted` is empty. Fails with
// invalid_argument if there is no such generation.
Status use_generation(const std::string& wanted, store::Findings& findings);

// "2026-11-18 20:31:54 UTC", or an empty string for the first generation, which has no date.
std::string generation_time(std::uint64_t generation);
// "generation 7177..., 2026-11-18 20:31:54 UTC, 6 of 6 shards, 12.0 KiB"
std::string generation_text(const store::OlderGeneration& older);
nlohmann::ordered_json to_json(const std::vector<store::OlderGeneration>& older);

// Reports generations with missing or damaged undo journals. Returns true if there are none.
bool report_older(const FilesArguments& arguments,
                  const std::vector<store::OlderGeneration>& older);

}  // namespace calpe::tools
