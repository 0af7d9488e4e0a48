// SPDX-License-Identifier: Apache-2.0
// An array's state for people: a table, and what it means.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace calpe::tools {

// Of what the request "status" is answered.
std::string array_table(const nlohmann::ordered_json& status);
// Why it is degraded, what may fail next, and what to do about it.
std::string array_explanation(const nlohmann::ordered_json& status);
// 0 healthy, 1 degraded or being rebuilt, 2 lost.
int array_exit_code(const nlohmann::ordered_json& status);

}  // namespace calpe::tools
