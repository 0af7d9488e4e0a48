// SPDX-License-Identifier: Apache-2.0
// What verify found, for people and programs; repair says it, too.
#pragma once
#include <nlohmann/json.hpp>

#include "store/read/verify_set.hpp"

namespace calpe::tools {

int exit_code_of(const store::VerifyReport& report);
const char* state_of(const store::VerifyReport& report);  // "good", "damaged", "lost"

const char* name_of(store::OriginalDamage damage);         // "missing", "damaged", "changed"
const char* shard_word(const store::ShardHeader& header);  // "shard", "parity file"

// A line for each shard that is not good, then what it means.
void print_report(const store::VerifyReport& report);
nlohmann::ordered_json to_json(const store::VerifyReport& report);
// Who it is: uuid, name, code, sizes.
nlohmann::ordered_json to_json(const store::ShardHeader& header);
std::string set_title(const store::ShardHeader& header);  // "photos (10+4, set 0b9a...)"

}  // namespace calpe::tools
