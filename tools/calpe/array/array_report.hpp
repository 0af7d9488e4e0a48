// SPDX-License-Identifier: Apache-2.0
// Formats the status of an array as text.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace calpe::tools {

// Table of the members, from the answer to the request "status".
// "3 blocks cannot be recovered (first at offset 4096); ..."; empty if none is known.
std::string lost_blocks_text(const nlohmann::ordered_json& status);
std::string array_table(const nlohmann::ordered_json& status);
// Why the array is degraded, how many members may still fail, and what to do.
std::string array_explanation(const nlohmann::ordered_json& status);
// 0 healthy, 1 degraded or rebuilding, 2 failed.
int array_exit_code(const nlohmann::ordered_json& status);

}  // namespace calpe::tools
