// SPDX-License-Identifier: Apache-2.0
// Prints the result of `calpe reram` as a table or JSON.
#pragma once
#include <nlohmann/json.hpp>

#include "calpe/reram/reram_words.hpp"

namespace calpe::tools {

void print_table(const ReramReport& report);
nlohmann::ordered_json to_json(const ReramReport& report);

}  // namespace calpe::tools
