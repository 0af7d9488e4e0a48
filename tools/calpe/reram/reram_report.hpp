// SPDX-License-Identifier: Apache-2.0
// What `calpe reram` prints: for a person, and as JSON.
#pragma once
#include <nlohmann/json.hpp>

#include "calpe/reram/reram_words.hpp"

namespace calpe::tools {

void print_table(const ReramReport& report);
nlohmann::ordered_json to_json(const ReramReport& report);

}  // namespace calpe::tools
