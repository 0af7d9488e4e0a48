// SPDX-License-Identifier: Apache-2.0
// Accessors for rows of a run file. A field that is missing or has another type reads as 0 or
// empty; nothing throws.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace calpe::tools {

using Json = nlohmann::ordered_json;

double number_of(const Json& object, std::string_view key);
std::string text_of(const Json& object, std::string_view key);
bool is_true(const Json& object, std::string_view key);

// Null if there is none.
const Json& object_of(const Json& object, std::string_view key);
// An empty list if there is none.
const Json& list_of(const Json& object, std::string_view key);
// A section of the run; null if it is missing.
const Json& section_of(const Json& run, std::string_view name);
// Rows of a section, or of the run's own grid for an empty name.
const Json& rows_of(const Json& run, std::string_view section);

std::string shape_of(const Json& row);   // "10+4"
std::string length_text(double bytes);   // "64 KiB"
std::string rate_text(double gb_per_s);  // three digits: "38.2"

// Bytes that a row's rate counts, from shape, operation and threads; 0 if it has no rate.
double bytes_counted(const Json& row);

// Names of the peers in the order of the run.
std::vector<std::string> peers_of(const Json& run);
// Display name: "ISA-L 2.0.30".
std::string peer_title(const Json& run, std::string_view name);

}  // namespace calpe::tools
