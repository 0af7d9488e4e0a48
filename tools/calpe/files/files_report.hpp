// SPDX-License-Identifier: Apache-2.0
// Prints the result of verify as text and JSON; also used by repair.
#pragma once
#include <nlohmann/json.hpp>

#include "store/read/verify_set.hpp"

namespace calpe::tools {

int exit_code_of(const store::VerifyReport& report);
const char* state_of(const store::VerifyReport& report);  // "good", "damaged", "lost"

const char* name_of(store::OriginalDamage damage);         // "missing", "damaged", "changed"
const char* shard_word(const store::ShardHeader& header);  // "shard", "parity file"

// Prints a line for each bad shard, then a summary. `needs_directory`: the given directories are
// too few for the missing shards.
void print_report(const store::VerifyReport& report, bool needs_directory = false);
nlohmann::ordered_json to_json(const store::VerifyReport& report);
// UUID, name, code and sizes.
nlohmann::ordered_json to_json(const store::ShardHeader& header);
std::string set_title(const store::ShardHeader& header);  // "photos (10+4, set 0b9a...)"

}  // namespace calpe::tools
